import type { SmsOrder } from '../../../../client/index.js';
import { Checks, SelectField, TextField } from '../../components/field.js';
import { serverNow } from '../../core/clock.js';
import { texts } from '../../core/i18n.js';
import {
  badMoment,
  deviceZone,
  localMomentOf,
  MomentFields,
  momentOf,
  weekday,
  windowWords,
  zonedMoment,
} from './schedule.js';
import { VALIDITIES, type When } from './when-draft.js';

const t = texts(
  {
    when: 'When',
    now: 'Now',
    later: 'Later',
    validFor: 'Not after',
    noEnd: 'No limit',
    validForHint: 'A message that could not be sent by then fails, and its units come back.',
    hours: 'Hours',
    byDefault: 'As the service has set',
    anyTime: 'At any time',
    only: 'Only at certain hours',
    from: 'From',
    to: 'Until',
    days: 'Days',
    needsDay: 'Choose at least one day.',
    zone: 'Time of',
    recipient: 'The recipient’s country',
    overnight: 'Until this time on the next day.',
    equal: 'The two times must differ.',
    at: 'At',
    afterThat: '{after} after that',
    after: '{after} from now',
    needsMoment: 'a day and a time',
    needsHours: 'hours',
    '3600': '1 hour',
    '21600': '6 hours',
    '86400': '1 day',
    '259200': '3 days',
    '604800': '7 days',
    '2592000': '30 days',
  },
  {
    when: 'Quand',
    now: 'Maintenant',
    later: 'Plus tard',
    validFor: 'Au plus tard',
    noEnd: 'Sans limite',
    validForHint: 'Un message qui n’a pas pu partir d’ici là échoue, et ses unités sont rendues.',
    hours: 'Horaires',
    byDefault: 'Selon le réglage du service',
    anyTime: 'À toute heure',
    only: 'À certaines heures seulement',
    from: 'De',
    to: 'À',
    days: 'Jours',
    needsDay: 'Choisissez au moins un jour.',
    zone: 'Fuseau',
    recipient: 'Celui du pays du destinataire',
    overnight: 'Jusqu’à cette heure le lendemain.',
    equal: 'Les deux heures doivent différer.',
    at: 'Le',
    afterThat: '{after} après cela',
    after: 'Dans {after}',
    needsMoment: 'un jour et une heure',
    needsHours: 'des horaires',
    '3600': '1 heure',
    '21600': '6 heures',
    '86400': '1 jour',
    '259200': '3 jours',
    '604800': '7 jours',
    '2592000': '30 jours',
  },
);

/** The ISO weekdays, from Monday on. */
const WEEKDAYS = [1, 2, 3, 4, 5, 6, 7];

interface WhenFieldsProps {
  readonly of: When;
  set(changes: Partial<When>): void;
  /** Says what the validity counts from. Example: “1 day from now”. */
  after?(duration: string): string;
}

/** The fields for the moment, the validity and the hours of a message. */
export function WhenFields({ of: when, set, after }: WhenFieldsProps) {
  const validUntil = after ?? ((duration: string) => t(when.later ? 'afterThat' : 'after', { after: duration }));
  const now = serverNow();
  return (
    <>
      <div class="pair">
        <SelectField
          label={t('when')}
          value={when.later ? 'later' : 'now'}
          options={[
            ['now', t('now')],
            ['later', t('later')],
          ]}
          onInput={(chosen) => set({ later: chosen === 'later', ...(when.date === '' ? tomorrow(now) : {}) })}
        />
        <SelectField
          label={t('validFor')}
          value={when.validFor}
          hint={when.validFor === '' ? undefined : t('validForHint')}
          options={[['', t('noEnd')], ...VALIDITIES.map((each) => [each, validUntil(t(each))] as const)]}
          onInput={(validFor) => set({ validFor })}
        />
      </div>
      {when.later && <MomentFields of={when} now={now} onInput={set} />}
      <SelectField
        label={t('hours')}
        value={when.hours}
        options={[
          ['', t('byDefault')],
          ['any', t('anyTime')],
          ['only', t('only')],
        ]}
        onInput={(hours) => set({ hours })}
      />
      {when.hours === 'only' && <WindowFields of={when} set={set} />}
    </>
  );
}

function WindowFields({ of, set }: { readonly of: When; set(changes: Partial<When>): void }) {
  const window = windowOf(of);
  return (
    <div class="form window">
      <div class="pair">
        <TextField label={t('from')} required type="time" value={of.from} onInput={(from) => set({ from })} />
        <TextField
          label={t('to')}
          required
          type="time"
          value={of.to}
          hint={
            of.from === of.to ? (
              <span class="bad-text">{t('equal')}</span>
            ) : of.to < of.from && of.to !== '' ? (
              t('overnight')
            ) : undefined
          }
          onInput={(to) => set({ to })}
        />
      </div>
      <Checks
        label={t('days')}
        options={WEEKDAYS.map((day) => [String(day), weekday(day)])}
        chosen={of.days}
        needed={t('needsDay')}
        onInput={(days) => set({ days: days.toSorted() })}
      />
      <SelectField
        label={t('zone')}
        value={of.zone}
        options={[
          ['recipient', t('recipient')],
          ['device', deviceZone()],
        ]}
        onInput={(zone) => set({ zone })}
      />
      {window && <p class="hint">{windowWords(window)}</p>}
    </div>
  );
}

/** Tomorrow at nine: a moment that people often want, and that is never in the past. */
function tomorrow(now: number): Pick<When, 'date' | 'time'> {
  return { date: localMomentOf(now + 86_400_000).date, time: '09:00' };
}

/** Returns the window of the draft; undefined while it is not complete. */
function windowOf({ from, to, days, zone }: When) {
  if (from === '' || to === '' || from === to || days.length === 0) return undefined;
  return { from, to, days: days.map(Number), zone: zone === 'device' ? deviceZone() : zone };
}

/** The values of the schedule that the user must still enter, in words. */
export function missingWhen(when: When): readonly string[] {
  const hasMoment = !when.later || (momentOf(when) !== undefined && badMoment(when, serverNow()) === undefined);
  return [
    ...(hasMoment ? [] : [t('needsMoment')]),
    ...(when.hours === 'only' && windowOf(when) === undefined ? [t('needsHours')] : []),
  ];
}

/** Returns the part of an order that says when it goes out. */
export function whenOf(when: When): Pick<SmsOrder, 'send_at' | 'valid_for' | 'window'> {
  const at = when.later ? momentOf(when) : undefined;
  const window = when.hours === 'any' ? null : when.hours === 'only' ? windowOf(when) : undefined;
  return {
    ...(at === undefined ? {} : { send_at: new Date(at).toISOString() }),
    ...(when.validFor === '' ? {} : { valid_for: Number(when.validFor) }),
    ...(window === undefined ? {} : { window }),
  };
}

/** The schedule of the draft in plain words, for the preview. Empty if the message goes out now, without limits. */
export function whenFacts(when: When): readonly (readonly [string, string])[] {
  const at = when.later ? momentOf(when) : undefined;
  const window = when.hours === 'only' ? windowOf(when) : undefined;
  const after = when.validFor === '' ? undefined : t(when.validFor);
  const facts: (readonly [string, string])[] = [];
  if (at !== undefined) {
    facts.push([t('at'), zonedMoment(new Date(at).toISOString())]);
  }
  if (after !== undefined) facts.push([t('validFor'), t(at === undefined ? 'after' : 'afterThat', { after })]);
  if (window !== undefined) facts.push([t('hours'), windowWords(window)]);
  if (when.hours === 'any') facts.push([t('hours'), t('anyTime')]);
  return facts;
}
