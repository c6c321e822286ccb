import { any, formatValue, OptionPlace, type OptionsOf, optionalGroup } from '../../common/options.js';

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

/** How the option `optOutWords` is read: our words and the host's. */
export const OPT_OUT_WORDS = optionalGroup({
  stop: any(wordsOf).or([]),
  start: any(wordsOf).or([]),
} satisfies OptionsOf<OptOutWordsOption>);

/** Our words and the host's. @throws MessagingOptionsError with a sentence that names the wrong word */
export function compileOptOutWords(option?: OptOutWordsOption): OptOutWords {
  const place = new OptionPlace('sms.optOutWords');
  return withOurs(OPT_OUT_WORDS.read(option, place), place);
}

function wordsOf(given: unknown, place: OptionPlace): readonly string[] {
  if (!Array.isArray(given)) return place.refuse('must be a list of words');
  for (const each of given) {
    if (typeof each === 'string' && wordOf(each) !== '') continue;
    place.refuse(`has ${formatValue(each)}, which is no word`);
  }
  return given;
}

/** @throws MessagingOptionsError for a word that would mean both */
export function withOurs(given: Readonly<Record<OptOutWish, readonly string[]>>, place: OptionPlace): OptOutWords {
  const words = new Map<string, OptOutWish>();
  const wishes = ['stop', 'start'] as const;
  for (const ours of Object.values(OURS)) {
    for (const wish of wishes) for (const word of ours[wish].split('|')) words.set(wordOf(word), wish);
  }
  for (const wish of wishes) {
    for (const each of given[wish]) {
      const word = wordOf(each);
      if ((words.get(word) ?? wish) !== wish) place.refuse(`has "${each}" for both stop and start`);
      words.set(word, wish);
    }
  }
  return words;
}
