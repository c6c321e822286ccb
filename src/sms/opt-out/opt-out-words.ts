import { MessagingOptionsError } from '../../common/errors.js';
import { formatValue } from '../../common/options.js';

/** What a text from a phone asks for. */
export type OptOutWish = 'stop' | 'start';

/** Words that a host adds to ours. */
export interface OptOutWordsOption {
  /** A text that is one of these ends SMS. Case, accents and punctuation make no difference. */
  readonly stop?: readonly string[] | undefined;
  /** A text that is one of these lets them begin again. */
  readonly start?: readonly string[] | undefined;
}

/** Wishes by their words, as {@link wordOf} gives them. */
export type OptOutWords = ReadonlyMap<string, OptOutWish>;

/** In every language of the catalogue: a phone does not know which one the host speaks. */
const OURS: Readonly<Record<'fr' | 'en', Readonly<Record<OptOutWish, string>>>> = {
  fr: {
    stop: 'stop|stop sms|stop pub|arret|arreter|arretez|desabonner|desabonnement|desinscrire|desinscription|resilier',
    start: 'reprendre|reprise|reactiver|reabonner',
  },
  en: {
    stop: 'stop|stopall|stop all|unsubscribe|cancel|end|quit|optout|opt out|revoke',
    start: 'start|unstop|resume|optin|opt in',
  },
};

/** Longer texts are no single word. */
const LONGEST = 60;

/** A text without what makes no difference: case, accents, punctuation, symbols, space around and repeated space. */
export function wordOf(text: string): string {
  if (text.length > LONGEST) return '';
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toUpperCase();
  return plain.replace(/[^\p{L}\p{N}]+/gu, ' ').trim();
}

/** Our words and the host's. @throws MessagingOptionsError with a sentence that names the wrong word */
export function compileOptOutWords(option: OptOutWordsOption = {}): OptOutWords {
  const words = new Map<string, OptOutWish>();
  for (const { stop, start } of Object.values(OURS)) {
    for (const word of stop.split('|')) words.set(wordOf(word), 'stop');
    for (const word of start.split('|')) words.set(wordOf(word), 'start');
  }
  for (const wish of ['stop', 'start'] as const) {
    const { [wish]: given = [] }: Readonly<Record<string, unknown>> = { ...option };
    if (!Array.isArray(given))
      throw new MessagingOptionsError(`Option sms.optOutWords.${wish} must be a list of words.`);
    for (const each of given) {
      const word = typeof each === 'string' ? wordOf(each) : '';
      if (word === '') {
        throw new MessagingOptionsError(`Option sms.optOutWords.${wish} has ${formatValue(each)}, which is no word.`);
      }
      if ((words.get(word) ?? wish) !== wish) {
        throw new MessagingOptionsError(`Option sms.optOutWords has "${each}" for both stop and start.`);
      }
      words.set(word, wish);
    }
  }
  return words;
}
