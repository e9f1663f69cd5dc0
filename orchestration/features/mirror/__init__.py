"""The memories of a graph as a folder of Markdown, in which a person may read and write."""
