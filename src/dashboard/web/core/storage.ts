/** Reads a choice that was kept in this browser. Undefined if there is none, or if an embedded page may not use storage. */
export function readChoice(name: string): string | undefined {
  try {
    return localStorage.getItem(`messaging.${name}`) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a choice in this browser if storage is allowed. Undefined removes it. Never use it for secrets. */
export function keepChoice(name: string, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(`messaging.${name}`);
    else localStorage.setItem(`messaging.${name}`, value);
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
}
