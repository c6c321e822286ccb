import type { SmsDetails } from '../../../../client/index.js';
import type { DeliveryWindow } from '../../../../outbox/windows/window.api.js';
import { TextField } from '../../components/field.js';
import { serverNow } from '../../core/clock.js';
import { moment } from '../../core/format.js';
import { language, texts } from '../../core/i18n.js';
import { listOf } from './list-of.js';

const t = texts(
  {
    date: 'Day',
    time: 'Time',
    zone: 'Time in {zone}, the zone of this device.',
    past: 'This moment is in the past.',
    far: 'This is more than 180 days ahead.',
    sendAt: 'Not before',
    validUntil: 'Not after',
    hours: 'Hours',
    window: 'From {from} to {to}, {days}, {zone}',
    everyDay: 'every day',
    range: '{first} to {last}',
    recipient: 'in the recipient’s country',
    inZone: 'in {name}',
    zoned: '{at} ({zone})',
  },
  {
    date: 'Jour',
    time: 'Heure',
    zone: 'Heure de {zone}, le fuseau de cet appareil.',
    past: 'Ce moment est passé.',
    far: 'C’est dans plus de 180 jours.',
    sendAt: 'Au plus tôt',
    validUntil: 'Au plus tard',
    hours: 'Horaires',
    window: 'De {from} à {to}, {days}, {zone}',
    everyDay: 'tous les jours',
    range: 'du {first} au {last}',
    recipient: 'dans le pays du destinataire',
    inZone: 'à l’heure de {name}',
    zoned: '{at} ({zone})',
  },
);

/** A day and a time as the fields of a browser have them: `2026-11-28` and `08:00`. */
export interface LocalMoment {
  readonly date: string;
  readonly time: string;
}

/** The name of the time zone of this device. */
export function deviceZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Whether a time of the API is still to come. Null: there is none. */
export function isAhead(iso: string | null): iso is string {
  return iso !== null && Date.parse(iso) > serverNow();
}

/** Formats a time of the API with the zone that it is shown in. Example: “27 Nov 2026, 09:00 (Africa/Abidjan)”. */
export function zonedMoment(iso: string): string {
  return t('zoned', { at: moment(iso), zone: deviceZone() });
}

/** Returns a moment of the API as day and time of this device. */
export function localMomentOf(at: number): LocalMoment {
  const [date = '', time = ''] = new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().split('T');
  return { date, time: time.slice(0, 5) };
}

/** Returns a day and a time of this device as milliseconds since the epoch; undefined while one of them is missing. */
export function momentOf({ date, time }: LocalMoment): number | undefined {
  const at = new Date(`${date}T${time}`).getTime();
  return Number.isNaN(at) ? undefined : at;
}

/** How far ahead a message may be scheduled, in milliseconds. */
const MAX_AHEAD_MS = 180 * 24 * 3_600_000;

/** Returns why a message cannot be sent at a moment, in words; undefined if it can, or while the moment is not complete. */
export function badMoment(of: LocalMoment, now: number): string | undefined {
  const at = momentOf(of);
  if (at === undefined) return undefined;
  if (at < now) return t('past');
  return at > now + MAX_AHEAD_MS ? t('far') : undefined;
}

interface MomentFieldsProps {
  readonly of: LocalMoment;
  /** The time of the server, milliseconds since the epoch. */
  readonly now: number;
  onInput(changes: Partial<LocalMoment>): void;
}

/** The fields for a day and a time, with the time zone that they are in. */
export function MomentFields({ of, now, onInput }: MomentFieldsProps) {
  const bad = badMoment(of, now);
  return (
    <div class="pair">
      <TextField
        label={t('date')}
        required
        type="date"
        min={localMomentOf(now).date}
        max={localMomentOf(now + MAX_AHEAD_MS).date}
        value={of.date}
        hint={bad === undefined ? undefined : <span class="bad-text">{bad}</span>}
        onInput={(date) => onInput({ date })}
      />
      <TextField
        label={t('time')}
        required
        type="time"
        value={of.time}
        hint={t('zone', { zone: deviceZone() })}
        onInput={(time) => onInput({ time })}
      />
    </div>
  );
}

/** Returns the name of an ISO weekday, 1 for Monday. */
export function weekday(day: number): string {
  // 1 January 2024 was a Monday.
  return new Intl.DateTimeFormat(language.value, { weekday: 'long', timeZone: 'UTC' }).format(Date.UTC(2024, 0, day));
}

/** Says in plain words when a window is open. Example: “From 08:00 to 20:00, Monday to Friday, in the recipient’s country”. */
export function windowWords({ from, to, days, zone }: DeliveryWindow): string {
  const where = zone === 'recipient' ? t('recipient') : t('inZone', { name: zone });
  return t('window', { from, to, days: daysInWords(days), zone: where });
}

/** The schedule of a message as facts with their titles. Empty if it has none. */
export function scheduleFacts({
  send_at,
  valid_until,
  window,
}: Pick<SmsDetails, 'send_at' | 'valid_until' | 'window'>): readonly (readonly [string, string])[] {
  return [
    ...(send_at === null ? [] : [[t('sendAt'), zonedMoment(send_at)] as const]),
    ...(valid_until === null ? [] : [[t('validUntil'), zonedMoment(valid_until)] as const]),
    ...(window === null ? [] : [[t('hours'), windowWords(window)] as const]),
  ];
}

function daysInWords(days: readonly number[]): string {
  const [first = 1] = days;
  const last = days.at(-1) ?? first;
  if (days.length === 7) return t('everyDay');
  if (days.length > 2 && last - first === days.length - 1)
    return t('range', { first: weekday(first), last: weekday(last) });
  return listOf(days.map(weekday));
}
