// Work that many events ask for, and that is done once for all of them.

/** Return what asks for `work` in `pause` milliseconds, and what takes that back. */
export function later(work, pause = 400) {
  let waits = null;
  return {
    soon() {
      waits ??= setTimeout(() => {
        waits = null;
        work();
      }, pause);
    },
    never: () => clearTimeout(waits),
  };
}
