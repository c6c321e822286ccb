import type { AccountEvent } from '../../../../client/index.js';

/** Returns a text field that only some types of events have. Undefined if this event does not have it. */
export function fieldOf({ data }: Pick<AccountEvent, 'data'>, name: string): string | undefined {
  const [, value] = Object.entries(data).find(([each]) => each === name) ?? [];
  return typeof value === 'string' ? value : undefined;
}
