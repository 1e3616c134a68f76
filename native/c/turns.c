/* The lock of the threads that take turns with Python code (kernel/turns.py), on Linux.
 *
 * One thread at a time has the turn. What it reads is in the cache of its core; if the next thread ran
 * on another core, it would wait for these data. So turns stay on one core: whoever passes the turn on
 * wakes the next thread there, and leaves this core itself if it goes on with a kernel call; who takes
 * a turn that nobody has moves there.
 *
 * The system may move any thread afterwards: a thread is bound to a core only until it runs there, and
 * then has the cores back that it had. Where binding is not allowed, only speed is lost.
 */
#if defined(__linux__)
#define _GNU_SOURCE
#include "kernel.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef struct Waiting {
    struct Waiting *next;
    _Atomic uint32_t woken;
    pid_t thread;
    _Atomic int bound; /* whether it was bound to a core to be woken there */
    cpu_set_t cores;
} Waiting;

struct Turn {
    _Atomic int taken;
    _Atomic uintptr_t owner; /* the thread that has the turn; 0: none */
    _Atomic uintptr_t last;  /* the thread that had it last */
    _Atomic int core;        /* the core of the last turn plus 1; 0: none, or something else runs there */
    pthread_mutex_t queue;   /* guards what follows */
    Waiting *first;
    Waiting **end;
    _Atomic int waiting; /* how many are in the queue */
};

_Static_assert(sizeof(Turn) <= TURN_BYTES, "a Turn has room in TURN_BYTES");

static uintptr_t self(void)
{
    return (uintptr_t)pthread_self();
}

static int64_t now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

/* Whether a thread (0: this one) may now run on one core only; `cores` gets those that it had. */
static int bind(pid_t thread, int core, cpu_set_t *cores)
{
    cpu_set_t one;
    if (core < 0 || sched_getaffinity(thread, sizeof *cores, cores) || !CPU_ISSET(core, cores))
        return 0;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    return !sched_setaffinity(thread, sizeof one, &one);
}

/* Gives this thread back the cores that it had. If these are all that its group of processes may use,
 * it is bound to none: then it also gets cores that the group gets later. */
static void unbind(const cpu_set_t *cores)
{
    cpu_set_t every, got;
    memset(&every, 0xff, sizeof every);
    if (sched_setaffinity(0, sizeof every, &every) || sched_getaffinity(0, sizeof got, &got) ||
        !CPU_EQUAL(&got, cores))
        sched_setaffinity(0, sizeof *cores, cores);
}

/* Moves this thread to another core. */
static void leave(int core)
{
    cpu_set_t cores, others;
    if (core < 0 || sched_getaffinity(0, sizeof cores, &cores))
        return;
    others = cores;
    CPU_CLR(core, &others);
    if (CPU_COUNT(&others) && !sched_setaffinity(0, sizeof others, &others))
        unbind(&cores);
}

static int take_free(Turn *turn)
{
    int free = 0;
    if (!atomic_compare_exchange_strong(&turn->taken, &free, 1))
        return 0;
    atomic_store(&turn->owner, self());
    return 1;
}

/* Moves this thread, which has the turn now, to the core of the last turn. */
static void settle(Turn *turn)
{
    uintptr_t last = atomic_exchange(&turn->last, self());
    int core = atomic_load(&turn->core) - 1;
    cpu_set_t cores;
    if (last != self() && core >= 0 && core != sched_getcpu() && bind(0, core, &cores))
        unbind(&cores);
}

static void enqueue(Turn *turn, Waiting *own)
{
    pthread_mutex_lock(&turn->queue);
    *turn->end = own;
    turn->end = &own->next;
    atomic_fetch_add(&turn->waiting, 1);
    pthread_mutex_unlock(&turn->queue);
}

/* Gives this thread, which was bound to be woken and waits on, its cores back. */
static void release(Turn *turn, Waiting *own)
{
    pthread_mutex_lock(&turn->queue); /* nobody binds it meanwhile */
    unbind(&own->cores);
    atomic_store(&own->bound, 0);
    pthread_mutex_unlock(&turn->queue);
}

static void dequeue(Turn *turn, Waiting *own)
{
    pthread_mutex_lock(&turn->queue);
    Waiting **at = &turn->first;
    while (*at != own)
        at = &(*at)->next;
    *at = own->next;
    if (turn->end == &own->next)
        turn->end = at;
    atomic_fetch_sub(&turn->waiting, 1);
    pthread_mutex_unlock(&turn->queue);
}

/* Begins a turn: the memory, TURN_BYTES long, belongs to the caller. */
API int64_t kernel_turn_begin(Turn *turn)
{
    memset(turn, 0, sizeof *turn);
    turn->end = &turn->first;
    return !pthread_mutex_init(&turn->queue, NULL);
}

/* Waits for the turn, `wait_ns` at most; returns 1 if this thread has it. */
API int64_t kernel_turn_take(Turn *turn, int64_t wait_ns)
{
    if (take_free(turn)) {
        settle(turn);
        return 1;
    }
    if (wait_ns <= 0)
        return 0;
    Waiting own = {.thread = (pid_t)syscall(SYS_gettid)};
    int64_t until = now() + wait_ns, left = wait_ns;
    enqueue(turn, &own);
    int taken;
    while (!(taken = take_free(turn)) && left > 0) {
        if (atomic_load(&own.bound)) release(turn, &own); /* it was woken, and another one was quicker */
        struct timespec wait = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
        syscall(SYS_futex, &own.woken, FUTEX_WAIT_PRIVATE, 0, &wait, NULL, 0);
        atomic_store(&own.woken, 0);
        left = until - now();
    }
    dequeue(turn, &own);
    if (!taken && atomic_load(&own.woken))
        taken = take_free(turn); /* it was woken just as its time ended: no other was */
    if (own.bound)
        unbind(&own.cores);
    if (taken)
        settle(turn);
    return taken;
}

/* Passes the turn on, if this thread has it; returns whether others waited for it. */
API int64_t kernel_turn_pass(Turn *turn)
{
    if (atomic_load(&turn->owner) != self())
        return 0;
    int core = sched_getcpu();
    atomic_store(&turn->core, core + 1);
    atomic_store(&turn->owner, 0);
    atomic_store(&turn->taken, 0);
    if (!atomic_load(&turn->waiting))
        return 0;
    pthread_mutex_lock(&turn->queue);
    Waiting *next = turn->first;
    if (next) {
        if (!next->bound)
            next->bound = bind(next->thread, core, &next->cores);
        atomic_store(&next->woken, 1);
        syscall(SYS_futex, &next->woken, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
    pthread_mutex_unlock(&turn->queue);
    return next != NULL;
}

/* Runs jobs while others have their turns; returns 1 if this thread has its turn again. */
API int64_t kernel_run_beside(Job *jobs, int64_t count, Turn *turn, int64_t wait_ns)
{
    int core = sched_getcpu(), stays = core + 1;
    if (kernel_turn_pass(turn))
        leave(core);
    else
        atomic_compare_exchange_strong(&turn->core, &stays, 0);
    kernel_run(jobs, count);
    return kernel_turn_take(turn, wait_ns);
}
#endif
