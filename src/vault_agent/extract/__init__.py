"""Attachments to text: the bytes of a file to the text of its pages or parts, within limits."""
