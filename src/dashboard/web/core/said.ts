import { signal } from '@preact/signals';
import { newIdempotencyKey } from '../../../client/index.js';
import { address, hrefOf } from './router.js';

/** A change, and how the status line tells of it. */
export interface Act {
  /** Makes the change. It gets the Idempotency-Key. */
  change(key: string): Promise<unknown>;
  /** What the status line says after the change, for example “Route orange is out of use.” */
  readonly said: string;
  /** Called after the change, for example to load a list again. */
  readonly after?: (() => void) | undefined;
  /** The change that takes this one back. The status line offers it. */
  readonly undo?: Omit<Act, 'undo' | 'after'> | undefined;
}

/** What the status line of a screen shows. */
interface Said {
  /** The `href` of the screen that it is about, with the account that an operator looks at. */
  readonly screen: string;
  readonly text: string;
  readonly undo?: (() => Promise<void>) | undefined;
  /** Why the change failed. */
  readonly error?: unknown;
}

/** The last change. It is shown until the user opens another screen, or makes another change. */
export const said = signal<Said | undefined>(undefined);

let isBusy = false;

/** Makes a change that needs no confirmation. The status line tells of it, or says why it failed. */
export async function act({ change, ...told }: Act): Promise<void> {
  if (isBusy) return;
  isBusy = true;
  const screen = shownScreen();
  try {
    await change(newIdempotencyKey());
    tell(told, screen);
    told.after?.();
  } catch (error) {
    said.value = { screen, text: '', error };
  } finally {
    isBusy = false;
  }
}

/**
 * Tells of a change that was made.
 * @param screen the `href` of the screen that tells of it; default the present one
 */
export function tell({ said: text, undo, after }: Omit<Act, 'change'>, screen = shownScreen()): void {
  said.value = { screen, text, undo: undo && (() => act({ ...undo, after: () => after?.() })) };
}

/** Returns the `href` of the present screen without its filters. */
export function shownScreen(): string {
  return hrefOf(address.value.path);
}
