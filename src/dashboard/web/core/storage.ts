/** Reads a choice of this browser; undefined where there is none or storage is refused (embedded pages). */
export function readChoice(name: string): string | undefined {
  try {
    return localStorage.getItem(`messaging.${name}`) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a choice in this browser, where it may be kept; undefined removes it. Never for secrets. */
export function keepChoice(name: string, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(`messaging.${name}`);
    else localStorage.setItem(`messaging.${name}`, value);
  } catch {
    // The choice then holds until the page is closed.
  }
}
