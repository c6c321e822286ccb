import { type Signal, signal, useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { newIdempotencyKey } from '../../../client/index.js';

/** What was typed and not sent, by the name of the form: it outlives dialogs, screens and sessions, but not the page. */
const drafts = new Map<string, Signal<unknown>>();

export interface FormState<V> {
  readonly values: V;
  set(changes: Partial<V>): void;
  readonly busy: boolean;
  /** Why the last attempt failed. */
  readonly error: unknown;
  /** For `onSubmit`. */
  submit(event: Event): void;
  /** Forgets what was typed. */
  clear(): void;
}

/**
 * A form whose values are kept until they were sent. A repeat of the same values has the same Idempotency-Key, so that an answer
 * that did not arrive does no harm.
 * @param name unique; with the id of what is edited in it
 * @param send makes the change
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

/** Forgets all drafts, for the next user of this browser. */
export function forgetDrafts(): void {
  drafts.clear();
}

/** One change by a button: whether it runs, and why it failed. */
export interface Action {
  readonly busy: boolean;
  readonly error: unknown;
  run(): Promise<boolean>;
}

/** @param change gets the Idempotency-Key, which is the same until it has succeeded */
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
