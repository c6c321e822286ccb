import { type InjectionToken, Module } from '@nestjs/common';
import { MessagingOptionsError } from '../common/errors.js';
import { group, isRecord, Option, OptionPlace, type Options, type OptionsOf, unread } from '../common/options.js';
import type { MessagingOptionsFactory, OptionsFromFactory, OptionsSource, SharedCore } from './core-options.js';
import { invokeFactory } from './port-provider.js';

/** The option names of all members of a union. */
type AllKeys<T> = T extends object ? keyof T : never;

/** The options of `forRootAsync` besides those that shape the module graph. */
export const FACTORY_OPTIONS = {
  imports: unread,
  inject: unread,
  useFactory: unread,
  useClass: unread,
  useExisting: unread,
} satisfies Record<AllKeys<OptionsSource<object>>, Option<unknown>>;

/** The option of a capability on an existing core. */
export const SHARED_CORE_OPTIONS = { core: unread } satisfies OptionsOf<SharedCore>;

/**
 * Refuses options whose names are not declared. Otherwise a misspelled option would have no effect and no error.
 * @param sets the declared options
 * @returns the options
 * @throws MessagingOptionsError with a sentence that names the option
 */
export function checkOptions<T>(options: T, ...sets: readonly Options[]): T {
  group(Object.assign({}, ...sets)).check(options, new OptionPlace());
  return options;
}

/**
 * Reads the source of the options of `forRootAsync`. The factory that it returns checks the options as {@link
 * checkOptions} does.
 * @param declared the options that the host's factory may return
 * @param graph options that shape the module graph. The factory may not return them, because the graph is complete
 * before it is called
 * @throws MessagingOptionsError with a sentence that names the option
 */
export function checkFactoryOptions<V>(source: OptionsSource<V>, declared: Options, graph: Options): CheckedFactory<V> {
  const { imports, inject, useFactory } = factoryOf(source);
  const checked = async (...injected: unknown[]): Promise<V> => {
    const given = await invokeFactory(useFactory, injected);
    const late = isRecord(given) ? Object.keys(given).find((name) => Object.hasOwn(graph, name)) : undefined;
    if (late === undefined) return checkOptions(given, declared);
    return new OptionPlace(late).refuse('shapes the module graph: write it beside useFactory, not in what it returns');
  };
  return { imports, inject, useFactory: checked };
}

/** A factory that checks the options that it returns. Nest calls it with the dependencies of the host's own factory. */
interface CheckedFactory<V> extends OptionsFromFactory<V> {
  readonly useFactory: (...injected: unknown[]) => Promise<V>;
}

function factoryOf<V>(source: OptionsSource<V>): OptionsFromFactory<V> {
  const { imports = [], useFactory, useClass, useExisting } = source;
  const given = Object.entries({ useFactory, useClass, useExisting }).filter(([, value]) => value !== undefined);
  if (given.length > 1) {
    const names = given.map(([name]) => name).join(' and ');
    throw new MessagingOptionsError(`Options ${names} exclude each other: give one of them.`);
  }
  if (useClass !== undefined) {
    if (typeof useClass !== 'function' || typeof useClass.prototype?.createMessagingOptions !== 'function') {
      throw new MessagingOptionsError('Option useClass must be a class with a method createMessagingOptions.');
    }
    const made = { module: OptionsFactoryModule, imports, providers: [useClass], exports: [useClass] };
    return { imports: [...imports, made], ...madeBy('useClass', useClass) };
  }
  if (useExisting !== undefined) return { imports, ...madeBy('useExisting', useExisting) };
  if (typeof useFactory !== 'function') throw new MessagingOptionsError('Option useFactory must be a function.');
  return { imports, inject: source.inject, useFactory };
}

/** Provides the class of `useClass`, so that it can be injected into each of our modules. */
@Module({})
class OptionsFactoryModule {}

function madeBy<V>(option: string, token: InjectionToken<MessagingOptionsFactory<V>>): OptionsFromFactory<V> {
  return {
    inject: [token],
    useFactory: (factory: MessagingOptionsFactory<V>) => {
      if (typeof factory?.createMessagingOptions === 'function') return factory.createMessagingOptions();
      throw new MessagingOptionsError(`Option ${option} must name a provider with a method createMessagingOptions.`);
    },
  };
}

/** An option that is one group, or a list of such groups. */
export function oneOrMore(each: Option<unknown>): Option<unknown> {
  return new Option(
    (given) => given,
    (given, place) => {
      if (!Array.isArray(given)) return each.check(given, place);
      for (const [index, entry] of given.entries()) each.check(entry, place.in(`[${index}]`));
    },
  );
}
