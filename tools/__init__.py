"""Scripts that generate files of this repository; `make format` and `make pictures` run them."""
