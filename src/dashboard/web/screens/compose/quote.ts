import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { SmsQuote } from '../../../../client/index.js';
import { isInvisible } from '../../../../common/text/visible-text.js';
import { messaging } from '../../core/clients.js';
import { isPassing } from '../../core/errors.js';
import { LIVE } from '../../core/resource.js';
import { sessionState } from '../../core/session.js';
import { callingCodeOf } from '../shared/number.js';
import type { TableRecipient } from './table.js';

/** The price for the numbers of one calling code. */
export interface CountryPrice {
  readonly code: string;
  readonly region: string | undefined;
  readonly recipients: number;
  readonly units: number;
}

/** What is priced: one text for all numbers, or with `to` a text that is completed for each recipient. */
export interface Priced {
  readonly text: string;
  readonly numbers: readonly string[];
  /** The recipients with their values, in the order of `numbers`. */
  readonly to?: readonly TableRecipient[] | undefined;
}

/** The price of a draft. */
export interface Price {
  readonly units: number;
  readonly countries: readonly CountryPrice[];
  readonly segments: number;
  /** Texts that differ: how many recipients get how many segments. */
  readonly distribution: SmsQuote['distribution'] | undefined;
  readonly longest: SmsQuote['longest'] | undefined;
  /** The units of each number that was priced. */
  readonly unitsOf: ReadonlyMap<string, number>;
  /** False: the price is estimated from some numbers of each country. */
  readonly isExact: boolean;
}

/**
 * While the user types, the service prices all numbers up to this many. For a longer list it prices some numbers of each country.
 */
const ALL_UP_TO = 500;
const OF_EACH = 20;
/** How long the typing must pause before the page asks for the price, in milliseconds. */
const PAUSE = 350;

/** Returns the price of a draft while it is typed. */
export function useQuote({ text, numbers, to }: Priced): {
  readonly price: Price | undefined;
  readonly error: unknown;
} {
  const state = useSignal<{ readonly price: Price | undefined; readonly error: unknown }>({
    price: undefined,
    error: undefined,
  });
  useEffect(() => {
    if (isInvisible(text) || numbers.length === 0) {
      state.value = { price: undefined, error: undefined };
      return;
    }
    const over = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    const ask = (): void => {
      quote({ text, numbers, to }, 'while typing', over.signal).then(
        (price) => {
          if (!over.signal.aborted) state.value = { price, error: undefined };
        },
        (error: unknown) => {
          if (over.signal.aborted) return;
          state.value = { ...state.value, error };
          if (isPassing(error)) timer = setTimeout(ask, LIVE);
        },
      );
    };
    timer = setTimeout(ask, PAUSE);
    return () => {
      clearTimeout(timer);
      over.abort();
    };
    // The price is asked for again after a new sign-in, because the session may have ended in between.
  }, [text, numbers, to, sessionState.value]);
  return state.value;
}

/**
 * Asks the service for the price.
 * @param when `while typing`, the price of a long list is estimated from some numbers of each country
 */
export async function quote(
  { text, numbers, to }: Priced,
  when: 'while typing' | 'exactly',
  signal?: AbortSignal,
): Promise<Price> {
  const isExact = when === 'exactly' || numbers.length <= ALL_UP_TO;
  const byCode = groupedByCode(numbers);
  const asked = isExact ? numbers : [...byCode.values()].flatMap((group) => group.slice(0, OF_EACH));
  const isAsked = new Set(to && asked);
  const recipients = to ? { to: to.filter(({ number }) => isAsked.has(number)) } : { number: asked };
  const answer = await messaging().sms.quote({ content: text, ...recipients }, { signal, timeoutMs: 300_000 });
  const unitsOf = new Map(answer.units_per_recipient.map(({ number, units }) => [number, units]));
  const countries = [...byCode].map(([code, group]): CountryPrice => {
    const known = group.flatMap((number) => unitsOf.get(number) ?? []);
    const sum = known.reduce((total, units) => total + units, 0);
    const units = known.length === 0 ? 0 : Math.round((sum / known.length) * group.length);
    return { code, region: callingCodeOf(group[0] ?? '').region, recipients: group.length, units };
  });
  countries.sort((a, b) => b.units - a.units || b.recipients - a.recipients);
  const units = isExact ? answer.sms_units : countries.reduce((total, each) => total + each.units, 0);
  const { segments, distribution, longest } = answer;
  return { units, countries, segments, distribution, longest, unitsOf, isExact };
}

function groupedByCode(numbers: readonly string[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const number of numbers) {
    const { code } = callingCodeOf(number);
    const group = groups.get(code);
    if (group) group.push(number);
    else groups.set(code, [number]);
  }
  return groups;
}
