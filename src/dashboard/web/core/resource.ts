import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { CallOptions, Listing, Page } from '../../../client/index.js';
import { isPassing } from './errors.js';
import { chosenAccount } from './router.js';
import { sessionState } from './session.js';

/** Data that is loaded from the API. The old data stays while it is loaded again, and if that fails. */
export interface Resource<T> {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly loading: boolean;
  /** Loads again now. */
  reload(): Promise<void>;
}

interface Loaded<T> {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly loading: boolean;
}

/** How often a live screen is loaded again, in milliseconds. */
export const LIVE = 5000;

/**
 * Loads data. It is loaded again when `dependencies` change or an operator chooses another account, and in intervals while the
 * page is visible.
 * @param load gets a signal that is aborted when the answer is no longer needed
 * @param every the interval in milliseconds. Undefined: the data is loaded once
 */
export function useResource<T>(
  load: (signal: AbortSignal) => Promise<T>,
  dependencies: readonly unknown[],
  every?: number,
): Resource<T> {
  const state = useSignal<Loaded<T>>({ data: undefined, error: undefined, loading: true });
  const latest = useRef(load);
  latest.current = load;
  const current = useRef<AbortController>(new AbortController());

  const reload = async (): Promise<void> => {
    current.current.abort();
    const own = new AbortController();
    current.current = own;
    state.value = { ...state.value, loading: true };
    try {
      const data = await latest.current(own.signal);
      if (!own.signal.aborted) state.value = { data, error: undefined, loading: false };
    } catch (error) {
      if (!own.signal.aborted) state.value = { data: state.value.data, error, loading: false };
    }
  };

  useEffect(() => {
    state.value = { data: undefined, error: undefined, loading: true };
    void reload();
    const stop = every === undefined ? undefined : repeat(reload, every, () => isLasting(state));
    return () => {
      stop?.();
      current.current.abort();
    };
  }, [chosenAccount(), ...dependencies]);

  // If loading failed because the session had ended, it is repeated after the next sign-in.
  const isIn = sessionState.value === 'in';
  useEffect(() => {
    if (isIn && state.peek().error !== undefined) void reload();
  }, [isIn]);

  return { ...state.value, reload };
}

/** Whether the last error is permanent. Polling then stops, and the screen offers a button to try again. */
function isLasting(state: Signal<Loaded<unknown>>): boolean {
  return state.peek().error !== undefined && !isPassing(state.peek().error);
}

/** Runs a task in intervals while the page is visible. It never runs twice at a time. */
function repeat(task: () => Promise<void>, every: number, isOver: () => boolean): () => void {
  let stopped = false;
  let timer: ReturnType<typeof setTimeout>;
  const wait = (): void => {
    timer = setTimeout(async () => {
      if (!document.hidden && !isOver()) await task();
      if (!stopped) wait();
    }, every);
  };
  wait();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

/** A list that is loaded page by page. */
export interface List<T> extends Resource<readonly T[]> {
  /** Whether there are more entries than those that are shown. */
  readonly hasMore: boolean;
  /** How far back the search went, if it stopped before its page was full. Otherwise undefined. */
  readonly searchedUntil: string | undefined;
  /** Appends the next page. */
  more(): Promise<void>;
}

interface Pages<T> {
  readonly items: readonly T[];
  readonly next: string | null;
  readonly searched: string | null | undefined;
}

/**
 * Loads a list page by page. A live list loads its first page again in intervals: new entries appear on top, and entries that
 * have changed are replaced.
 * @param list returns the list for the current filters
 * @param filters if a filter changes, the list starts again at its first page
 * @param identity returns a text that is different for each entry
 * @param every the interval of a live list in milliseconds. Undefined: the list is not live
 */
export function useList<T>(
  list: (options: CallOptions) => Listing<T>,
  filters: readonly unknown[],
  identity: (entry: T) => string,
  every?: number,
): List<T> {
  const wanted = JSON.stringify([filters, chosenAccount()]);
  const further = useSignal<{ readonly of: string; readonly pages: Pages<T> } | undefined>(undefined);
  const first = useResource<Page<T>>((signal) => list({ signal }).page(), [wanted], every);
  const moreError = useSignal<unknown>(undefined);
  const appended = further.value?.of === wanted ? further.value.pages : undefined;
  const head = first.data?.items ?? [];
  const seen = new Set(head.map(identity));
  const next = appended ? appended.next : (first.data?.next_cursor ?? null);
  const searched = appended ? appended.searched : first.data?.searched_until;

  const more = async (): Promise<void> => {
    if (next === null) return;
    moreError.value = undefined;
    try {
      const page = await list({}).page(next);
      // `head` is kept too, because new entries may push its last entries out of the first page.
      const items = [...(appended?.items ?? head), ...page.items];
      further.value = { of: wanted, pages: { items, next: page.next_cursor, searched: page.searched_until } };
    } catch (error) {
      moreError.value = error;
    }
  };

  const reload = async (): Promise<void> => {
    further.value = undefined;
    await first.reload();
  };

  return {
    data: first.data && [...head, ...(appended?.items ?? []).filter((entry) => !seen.has(identity(entry)))],
    error: first.error ?? moreError.value,
    loading: first.loading,
    hasMore: next !== null,
    searchedUntil: searched ?? undefined,
    reload,
    more,
  };
}
