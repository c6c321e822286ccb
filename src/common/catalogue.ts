import { en } from './catalogue.en.js';
import { fr } from './catalogue.fr.js';
import { type SomeOf, withoutUndefined } from './some-of.js';

/** The name of a text that a caller or a recipient may read. */
export type TextKey = keyof typeof fr;

/** What stands for the `{placeholders}` of a text. */
export type TextValues = Readonly<Record<string, string | number>>;

/** Every text of one language; `{name}` is replaced by the value of that name. */
export type Catalogue = Readonly<Record<TextKey, string>>;

/** Option `locale`: one of ours, or the host's own texts over French ones. */
export type Locale = 'fr' | 'en' | SomeOf<Catalogue>;

/** The catalogue an option `locale` stands for. */
export function catalogueOf(locale: Locale): Catalogue {
  if (locale === 'fr') return fr;
  if (locale === 'en') return en;
  return { ...fr, ...withoutUndefined(locale) };
}

/** A catalogue's text with its values filled in; a placeholder without a value stays as it is. */
export function renderText(catalogue: Catalogue, key: TextKey, values: TextValues = {}): string {
  return fillIn(catalogue[key], values);
}

/** A text with its values filled in, as `renderText` does it. */
export function fillIn(text: string, values: TextValues): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
