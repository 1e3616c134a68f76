"""Measures how good recipes are: data sets, metrics, and a table of scores per recipe."""
