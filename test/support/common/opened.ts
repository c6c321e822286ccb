import { afterEach } from '@jest/globals';

interface Closable {
  close(): Promise<void> | void;
}

/** Closes what a test opened when the test is over, newest first. `opened(x)` returns `x`. */
export function closeAfterEach(): <T extends Closable>(each: T) => T {
  const open: Closable[] = [];
  afterEach(async () => {
    for (const each of open.splice(0).reverse()) await each.close();
  });
  return (each) => {
    open.push(each);
    return each;
  };
}
