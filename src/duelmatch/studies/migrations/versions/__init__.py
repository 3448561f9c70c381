"""The steps. One that has been released is never changed; a change of the tables is a new one."""
