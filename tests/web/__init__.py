"""Tests of the web page. It is a package so that all of them share one browser."""
