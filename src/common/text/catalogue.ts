import { type OptionalFields, withoutUndefined } from '../optional-fields.js';
import { en } from './catalogue.en.js';
import { fr } from './catalogue.fr.js';

/** The key of a text for callers or recipients. */
export type TextKey = keyof typeof fr;

/** Values of the `{placeholders}` of a text. */
export type TextValues = Readonly<Record<string, string | number>>;

/** All texts of one language; `{name}` is replaced by the value of that name. */
export type Catalogue = Readonly<Record<TextKey, string>>;

/** Option `locale`: one of our languages, or texts of the host that replace some of the French ones. */
export type Locale = 'fr' | 'en' | OptionalFields<Catalogue>;

/** The catalogue for an option `locale`. */
export function catalogueOf(locale: Locale): Catalogue {
  if (locale === 'fr') return fr;
  if (locale === 'en') return en;
  return { ...fr, ...withoutUndefined(locale) };
}

/** A catalogue's text with its placeholders replaced; a placeholder without a value stays. */
export function renderText(catalogue: Catalogue, key: TextKey, values: TextValues = {}): string {
  return fillIn(catalogue[key], values);
}

/** Replaces the placeholders of a text, as `renderText` does. */
export function fillIn(text: string, values: TextValues): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
