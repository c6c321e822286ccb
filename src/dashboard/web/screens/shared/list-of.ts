import { language } from '../../core/i18n.js';

/** Joins several items into one phrase: “a, b and c”. */
export function listOf(items: readonly string[]): string {
  return new Intl.ListFormat(language.value).format(items);
}
