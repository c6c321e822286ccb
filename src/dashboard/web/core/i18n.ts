import { signal } from '@preact/signals';
import { place } from './place.js';
import { keepChoice, readChoice } from './storage.js';

export type Language = 'en' | 'fr';

/** The names between braces. Example: `n` in `{n}` and in `{n|key|keys}`. */
type Names<S extends string> = S extends `${string}{${infer Inside}}${infer Rest}`
  ? (Inside extends `${infer Name}|${string}` ? Name : Inside) | Names<Rest>
  : never;

/** A text with the same placeholders as another text. A text with other placeholders does not compile. */
type Alike<E extends string, F extends string> = [Names<E>, Names<F>] extends [Names<F>, Names<E>]
  ? F
  : { readonly 'placeholders differ': [Names<E>, Names<F>] };

type Checked<E extends Record<string, string>, F extends Record<string, string>> = {
  readonly [K in keyof F]: K extends keyof E ? Alike<E[K], F[K]> : never;
};

type Values<S extends string> = [Names<S>] extends [never] ? [] : [values: Readonly<Record<Names<S>, string | number>>];

/** Returns a text in the current language. A component that calls it is rendered again when the language changes. */
export interface Translate<E extends Record<string, string>> {
  <K extends keyof E & string>(key: K, ...values: Values<E[K]>): string;
  /** Returns the text for a word of the API. A word without a text is returned unchanged. */
  of(key: string, values?: Readonly<Record<string, string | number>>): string;
  /** The keys of the catalogue, in its order. */
  readonly keys: readonly (keyof E & string)[];
}

/**
 * Makes a catalogue, with the same keys and the same placeholders in both languages. `{n}` inserts the value n. Numbers are
 * formatted in the language. `{n|key|keys}` inserts the singular or the plural for the number n.
 */
export function texts<const E extends Record<string, string>, const F extends Readonly<Record<keyof E, string>>>(
  en: E,
  fr: F & Checked<E, F>,
): Translate<E> {
  const both: Readonly<Record<Language, Readonly<Record<string, string>>>> = { en, fr };
  const translate = (key: string, ...[values]: readonly Readonly<Record<string, string | number>>[]): string =>
    fill(both[language.value][key] ?? key, values ?? {});
  return Object.assign(translate, {
    of: (key: string, values = {}) => fill(both[language.value][key] ?? key, values),
    keys: Object.keys(en),
  });
}

/** The language of the page. */
export const language = signal<Language>(
  known(readChoice('language')) ?? known(place.locale) ?? firstKnown(navigator.languages) ?? 'en',
);

/**
 * Whether the user, the host or the browser has decided the language. The language of the service is used only if none of them
 * has.
 */
const decided = [readChoice('language'), place.locale, ...navigator.languages].some((each) => known(each));

/** Uses the language of the service, unless the user, the host or the browser has decided. */
export function offerLanguage(of: string): void {
  const offered = known(of);
  if (!decided && offered) setLanguage(offered, false);
}

/** Changes the language of the page. @param keep whether this browser remembers the choice */
export function setLanguage(to: Language, keep = true): void {
  language.value = to;
  if (keep) keepChoice('language', to);
}

function known(tag: string | undefined): Language | undefined {
  const base = tag?.toLowerCase().split('-')[0];
  return base === 'fr' || base === 'en' ? base : undefined;
}

function firstKnown(tags: readonly string[]): Language | undefined {
  return tags.map(known).find((each) => each !== undefined);
}

function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}/g, (_, name: string, one?: string, other?: string) => {
    const value = values[name] ?? '';
    if (one === undefined || other === undefined) return typeof value === 'number' ? formatted(value) : value;
    return new Intl.PluralRules(language.value).select(Number(value)) === 'one' ? one : other;
  });
}

function formatted(value: number): string {
  return new Intl.NumberFormat(language.value).format(value);
}
