import { type Signal, signal, useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { newIdempotencyKey } from '../../../client/index.js';

/**
 * The values that were typed but not sent yet, by the name of the form. They survive dialogs, screens and sessions, but not a
 * reload of the page.
 */
const drafts = new Map<string, Signal<unknown>>();

export interface FormState<V> {
  readonly values: V;
  set(changes: Partial<V>): void;
  readonly busy: boolean;
  /** Why the last attempt failed. */
  readonly error: unknown;
  /** The handler for `onSubmit`. */
  submit(event: Event): void;
  /** Discards the typed values. */
  clear(): void;
}

/**
 * Returns a form that keeps its values until they were sent. If the same values are sent again, they have the same
 * Idempotency-Key, so a lost answer does no harm.
 * @param name a unique name. For a form that edits something, it contains the id
 * @param send makes the change with the Idempotency-Key
 */
export function useForm<V extends object>(
  name: string,
  initial: V,
  send: (values: V, key: string) => Promise<unknown>,
): FormState<V> {
  const values = draftOf(name, initial);
  const busy = useSignal(false);
  const error = useSignal<unknown>(undefined);
  const attempt = useRef({ of: '', key: '' });

  const clear = (): void => {
    values.value = initial;
    error.value = undefined;
  };

  const submit = (event: Event): void => {
    event.preventDefault();
    if (busy.value) return;
    const now = JSON.stringify(values.value);
    if (attempt.current.of !== now) attempt.current = { of: now, key: newIdempotencyKey() };
    busy.value = true;
    error.value = undefined;
    send(values.value, attempt.current.key)
      .then(() => {
        attempt.current = { of: '', key: '' };
        clear();
      })
      .catch((reason: unknown) => {
        error.value = reason;
      })
      .finally(() => {
        busy.value = false;
      });
  };

  return {
    values: values.value,
    set: (changes) => {
      values.value = { ...values.value, ...changes };
    },
    busy: busy.value,
    error: error.value,
    submit,
    clear,
  };
}

function draftOf<V extends object>(name: string, initial: V): Signal<V> {
  const kept = drafts.get(name);
  if (kept) return kept as Signal<V>;
  const made = signal(initial);
  drafts.set(name, made as Signal<unknown>);
  return made;
}

/** Discards all drafts, so that the next user of this browser does not see them. */
export function forgetDrafts(): void {
  drafts.clear();
}

/** A change that a button makes. It knows whether the change is running, and why it failed. */
export interface Action {
  readonly busy: boolean;
  readonly error: unknown;
  run(): Promise<boolean>;
}

/** @param change gets the Idempotency-Key, which stays the same until the change has succeeded */
export function useAction(change: (key: string) => Promise<unknown>): Action {
  const busy = useSignal(false);
  const error = useSignal<unknown>(undefined);
  const key = useRef<string | undefined>(undefined);
  const run = async (): Promise<boolean> => {
    if (busy.value) return false;
    busy.value = true;
    error.value = undefined;
    key.current ??= newIdempotencyKey();
    try {
      await change(key.current);
      key.current = undefined;
      return true;
    } catch (reason) {
      error.value = reason;
      return false;
    } finally {
      busy.value = false;
    }
  };
  return { busy: busy.value, error: error.value, run };
}
