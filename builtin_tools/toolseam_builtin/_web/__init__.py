"""Looking at a workspace's web application, which only a child process ever imports."""
