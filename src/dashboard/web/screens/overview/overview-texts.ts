import { texts } from '../../core/i18n.js';
import { hrefOf } from '../../core/router.js';

export const t = texts(
  {
    title: 'Overview',
    balance: 'Balance',
    entries: 'Entries and usage',
    today: 'Recipients today',
    lastWeek: '{n} on the same day last week, until the same time',
    lastWeekColumn: 'Last week, until the same time',
    oldest: 'Oldest queued',
    oldestHint: 'The oldest message that was not handed over yet.',
    nothingWaits: 'Queue empty',
    byStatus: 'Today by status',
    quiet: 'Nothing was sent today',
    quietHow: 'Send a first message here, or from a program with a key.',
    first: 'Write a message',
    look: 'View',
    balance_low: 'The balance is below {target}. Top it up before sends are refused.',
    capped: 'Only the newest 10,000 recipients of each channel are counted.',
    signature_rejected: 'The signature {target} was rejected.',
    endpoint_disabled: 'The webhook {target} was disabled, because its calls failed.',
    number_lost: 'The number {target} is no longer linked.',
    key_expiring: 'The key {target} expires soon.',
  },
  {
    title: 'Vue d’ensemble',
    balance: 'Solde',
    entries: 'Écritures et consommation',
    today: 'Destinataires du jour',
    lastWeek: '{n} le même jour de la semaine dernière, à cette heure',
    lastWeekColumn: 'Semaine dernière, mêmes heures',
    oldest: 'Plus ancien en file',
    oldestHint: 'Le plus ancien message qui n’a pas encore été transmis.',
    nothingWaits: 'File vide',
    byStatus: 'Aujourd’hui par état',
    quiet: 'Rien n’a été envoyé aujourd’hui',
    quietHow: 'Envoyez un premier message ici, ou depuis un programme avec une clé.',
    first: 'Rédiger un message',
    look: 'Voir',
    balance_low: 'Le solde est inférieur à {target}. Rechargez-le avant que des envois soient refusés.',
    capped: 'Seuls les 10 000 destinataires les plus récents de chaque canal sont comptés.',
    signature_rejected: 'La signature {target} a été rejetée.',
    endpoint_disabled: 'Le webhook {target} a été désactivé, car ses appels échouaient.',
    number_lost: 'Le numéro {target} n’est plus lié.',
    key_expiring: 'La clé {target} expire bientôt.',
  },
);

const SCREENS: Readonly<Record<string, string>> = {
  balance_low: 'balance',
  signature_rejected: 'signatures',
  endpoint_disabled: 'webhooks',
  number_lost: 'numbers',
  key_expiring: 'keys',
};

/** Returns the address of the screen on which the user can fix something that needs attention. */
export function attentionHref(kind: string): string {
  return hrefOf(SCREENS[kind] ?? 'overview');
}
