import { any, formatValue, OptionPlace, type OptionsOf, optionalGroup } from '../../common/options.js';

/** The request of a text from a phone. */
export type OptOutRequest = 'stop' | 'start';

/** Words that the host adds to the built-in ones. */
export interface OptOutWordsOption {
  /** Texts that put the sender on the suppression list. Case, accents and punctuation are ignored. */
  readonly stop?: readonly string[] | undefined;
  /** Texts that remove the sender from the list, unless an operator has added it. */
  readonly start?: readonly string[] | undefined;
}

/** Requests by their words, as returned by {@link normalizedWord}. */
export type OptOutWords = ReadonlyMap<string, OptOutRequest>;

/** The built-in words, in all languages of the catalogue, because a phone's owner does not know the host's language. */
const BUILT_IN: Readonly<Record<'fr' | 'en', Readonly<Record<OptOutRequest, string>>>> = {
  fr: {
    stop: 'stop|stop sms|stop pub|arret|arreter|arretez|desabonner|desabonnement|desinscrire|desinscription|resilier',
    start: 'reprendre|reprise|reactiver|reabonner',
  },
  en: {
    stop: 'stop|stopall|stop all|unsubscribe|cancel|end|quit|optout|opt out|revoke',
    start: 'start|unstop|resume|optin|opt in',
  },
};

/** The longest text that can be a word of this list, in characters. */
const MAX_LENGTH = 60;

/**
 * Returns a text in upper case, without accents, invisible characters, punctuation, symbols, and leading, trailing and repeated
 * space.
 */
export function normalizedWord(text: string): string {
  if (text.length > MAX_LENGTH) return '';
  const plain = text
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')
    .toUpperCase();
  return plain.replace(/[^\p{L}\p{N}]+/gu, ' ').trim();
}

/**
 * Returns the request of a text. The text must be one of the words, alone or followed by one of the names. Examples: `STOP`,
 * `STOP 36111` and `Stop au 36111` from a phone that answers to `36111`, and `STOP SHOP` to the sender SHOP.
 *
 * @param names the destination of the text and its signatures
 */
export function requestIn(words: OptOutWords, text: string, names: readonly string[]): OptOutRequest | undefined {
  const said = normalizedWord(text);
  const alone = words.get(said);
  if (alone !== undefined) return alone;
  const name = names.map(normalizedWord).find((each) => each !== '' && said.endsWith(` ${each}`));
  return name === undefined ? undefined : words.get(said.slice(0, -name.length).replace(/ (?:(?:AU|A|TO) )?$/, ''));
}

/** The reader of the option `optOutWords`. */
export const OPT_OUT_WORDS = optionalGroup({
  stop: any(wordsOf).or([]),
  start: any(wordsOf).or([]),
} satisfies OptionsOf<OptOutWordsOption>);

function wordsOf(given: unknown, place: OptionPlace): readonly string[] {
  if (!Array.isArray(given)) return place.refuse('must be a list of words');
  for (const each of given) {
    if (typeof each === 'string' && normalizedWord(each) !== '') continue;
    place.refuse(`has ${formatValue(each)}, which is not a word`);
  }
  return given;
}

/**
 * Joins the given words with the built-in words.
 *
 * @throws MessagingOptionsError for a word that is in both lists
 */
export function withBuiltIn(
  given: Readonly<Record<OptOutRequest, readonly string[]>>,
  place: OptionPlace,
): OptOutWords {
  const words = new Map<string, OptOutRequest>();
  const requests = ['stop', 'start'] as const;
  for (const builtIn of Object.values(BUILT_IN)) {
    for (const request of requests)
      for (const word of builtIn[request].split('|')) words.set(normalizedWord(word), request);
  }
  for (const request of requests) {
    for (const each of given[request]) {
      const word = normalizedWord(each);
      if ((words.get(word) ?? request) !== request) place.refuse(`has "${each}" for both stop and start`);
      words.set(word, request);
    }
  }
  return words;
}
