import { MessagingOptionsError } from '../common/errors.js';
import { group, isRecord, Option, OptionPlace, type Options, type OptionsOf, unread } from '../common/options.js';
import type { SharedCore, ValuesFactory } from './core-options.js';

/** The options of `forRootAsync` beside those that shape the graph. */
export const FACTORY_OPTIONS = {
  imports: unread,
  inject: unread,
  useFactory: unread,
} satisfies OptionsOf<ValuesFactory<object>>;

/** The option of a capability on an existing core. */
export const SHARED_CORE_OPTIONS = { core: unread } satisfies OptionsOf<SharedCore>;

/**
 * Refuses options whose names are not declared, because a misspelled option would otherwise have no effect.
 * @param sets the declared options
 * @returns the options
 * @throws MessagingOptionsError with a sentence that names the option
 */
export function knownOptions<T>(options: T, ...sets: readonly Options[]): T {
  group(Object.assign({}, ...sets)).check(options, new OptionPlace());
  return options;
}

/**
 * As {@link knownOptions}, for the values that a factory of the host returns.
 * @param values the options that it may return
 * @param graph options that shape the module graph, which is complete before the factory is called
 */
export function knownValues<V, A extends unknown[]>(
  useFactory: (...injected: A) => V | Promise<V>,
  values: Options,
  graph: Options,
): (...injected: A) => Promise<V> {
  if (typeof useFactory !== 'function') throw new MessagingOptionsError('Option useFactory must be a function.');
  return async (...injected) => {
    const given = await useFactory(...injected);
    const late = isRecord(given) ? Object.keys(given).find((name) => Object.hasOwn(graph, name)) : undefined;
    if (late === undefined) return knownOptions(given, values);
    return new OptionPlace(late).refuse('shapes the module graph: write it beside useFactory, not in its values');
  };
}

/** A group that may be given several times, in a list. */
export function oneOrMore(each: Option<unknown>): Option<unknown> {
  return new Option(
    (given) => given,
    (given, place) => {
      if (!Array.isArray(given)) return each.check(given, place);
      for (const [index, entry] of given.entries()) each.check(entry, place.in(`[${index}]`));
    },
  );
}
