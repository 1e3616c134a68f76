"""Scripts that generate files of this repository; `make format` and `make picture` run them."""
