import { MessagingOptionsError } from '../common/errors.js';
import { isRecord } from '../common/options.js';
import { type OptionNames, TOO_LATE } from './option-names.js';

/**
 * Refuses options under names that nobody reads: a misspelled one would be passed over in silence. Gives them back.
 * @param at where they are written, for the sentence: `sms.` for instance
 * @throws MessagingOptionsError with a sentence that names the option
 */
export function knownOptions<T>(options: T, names: OptionNames, at = ''): T {
  if (!isRecord(options))
    throw new MessagingOptionsError(`${at ? `Option ${at.slice(0, -1)}` : 'The options'} must be an object.`);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const rule = Object.hasOwn(names, name) ? names[name] : undefined;
    if (rule === undefined) {
      throw new MessagingOptionsError(`Option ${at}${name} is not known; there are ${Object.keys(names).join(', ')}.`);
    }
    if (typeof rule === 'object' && !(rule.orBoolean && typeof value === 'boolean')) {
      const each = rule.orList && Array.isArray(value) ? value : undefined;
      each?.forEach((entry, index) => void knownOptions(entry, rule.names, `${at}${name}[${index}].`));
      if (!each) knownOptions(value, rule.names, `${at}${name}.`);
    }
    // Whoever reads it would take it for one that was not given.
    if (rule === 'any' && value === null) throw new MessagingOptionsError(`Option ${at}${name} must not be null.`);
    if (rule === 'boolean' && typeof value !== 'boolean') {
      throw new MessagingOptionsError(`Option ${at}${name} must be true or false.`);
    }
  }
  return options;
}

/** As {@link knownOptions}, for what a factory of the host gives, at once or later. */
export function knownValues<V, A extends unknown[]>(
  useFactory: (...injected: A) => V | Promise<V>,
  names: OptionNames,
): (...injected: A) => Promise<V> {
  if (typeof useFactory !== 'function') throw new MessagingOptionsError('Option useFactory must be a function.');
  return async (...injected) => {
    const values = await useFactory(...injected);
    const late = isRecord(values) ? Object.keys(values).find((name) => TOO_LATE.has(name)) : undefined;
    if (late === undefined) return knownOptions(values, names);
    throw new MessagingOptionsError(
      `Option ${late} shapes the module graph: write it beside useFactory, not in its values.`,
    );
  };
}
