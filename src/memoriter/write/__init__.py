"""Everything that writes: from drafts to commits, reflection, export, and repair."""
