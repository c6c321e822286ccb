import { MessagingApiError } from '../../../client/index.js';
import { texts } from './i18n.js';

const t = texts(
  {
    away: 'The server does not answer. Nothing that you typed is lost; try again.',
    role: 'Your role does not allow this.',
    ended: 'Your session has ended. Sign in again to go on.',
    fault: 'Something went wrong here. Try again, or reload the page.',
    refused: 'This was not accepted: a link works once and for a few minutes only. Ask for another one.',
    suspended: 'This account is suspended: it can be looked at, but it sends nothing.',
    rate: 'Too many requests. Try again in a moment.',
    unavailable: 'The service is not available at this moment. Try again.',
    invalid_number: 'One of the numbers is not a phone number with its country code.',
    webhook_url_refused: 'This address cannot be called: it must be https and public.',
    insufficient_balance: 'The balance does not cover this.',
    signature_format: 'A signature has 1 to 11 characters with at least one letter, or 3 to 15 digits.',
    too_many_endpoints: 'There are too many webhooks already.',
    reference_taken: 'Another entry has this reference already.',
    account_exists: 'There is an account with this id already.',
    media_unavailable: 'The file could not be fetched from its address.',
    not_connected: 'The number is not linked at this moment.',
    number_reconnecting: 'The number has lost its connection and is reconnecting. Try again in a moment.',
    field: 'One of the fields is not as it should be.',
  },
  {
    away: 'Le serveur ne répond pas. Rien de ce que vous avez saisi n’est perdu ; réessayez.',
    role: 'Votre rôle ne le permet pas.',
    ended: 'Votre session est terminée. Reconnectez-vous pour continuer.',
    fault: 'Une erreur s’est produite ici. Réessayez ou rechargez la page.',
    refused: 'Refusé : un lien ne sert qu’une fois et pendant quelques minutes. Demandez-en un autre.',
    suspended: 'Ce compte est suspendu : on peut le consulter, mais il n’envoie rien.',
    rate: 'Trop de requêtes. Réessayez dans un instant.',
    unavailable: 'Le service n’est pas disponible pour le moment. Réessayez.',
    invalid_number: 'L’un des numéros n’est pas un numéro de téléphone avec son indicatif.',
    webhook_url_refused: 'Cette adresse ne peut pas être appelée : elle doit être en https et publique.',
    insufficient_balance: 'Le solde ne suffit pas.',
    signature_format: 'Une signature a 1 à 11 caractères avec au moins une lettre, ou 3 à 15 chiffres.',
    too_many_endpoints: 'Il y a déjà trop de webhooks.',
    reference_taken: 'Une autre écriture a déjà cette référence.',
    account_exists: 'Un compte a déjà cet identifiant.',
    media_unavailable: 'Le fichier n’a pas pu être récupéré à son adresse.',
    not_connected: 'Le numéro n’est pas lié en ce moment.',
    number_reconnecting: 'Le numéro a perdu sa connexion et se reconnecte. Réessayez dans un instant.',
    field: 'L’un des champs n’est pas correct.',
  },
);

/** Whether no answer came, because the service or the network is away. The request may have been carried out all the same. */
export function isAway(error: unknown): boolean {
  return error instanceof MessagingApiError && error.status === 0;
}

/** Whether the API says that this does not exist. */
export function isMissing(error: unknown): boolean {
  return error instanceof MessagingApiError && error.status === 404;
}

/** Whether the same request may succeed later without a change. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof MessagingApiError)) return false;
  const { status, code } = error;
  return status === 0 || status >= 500 || status === 429 || code === 'number_reconnecting';
}

/** What to say about an error, in the page's language where we know it better than the server's sentence. */
export function sentenceOf(error: unknown): string {
  if (isAway(error)) return t('away');
  if (!(error instanceof MessagingApiError)) return t('fault');
  if (error.code === 'link_refused') return t('refused');
  if (error.status === 401) return t('ended');
  if (error.code === 'role_missing' || error.code === 'user_required') return t('role');
  if (error.code === 'account_suspended') return t('suspended');
  if (error.status === 503 || error.status === 504) return t('unavailable');
  if (error.status === 429 && error.code !== 'key_cap') return t('rate');
  const known = KNOWN.find((code) => code === error.code);
  // The server's sentence ends with the number.
  if (known === 'invalid_number') return `${t(known)} (${error.message.split(': ').at(-1)})`;
  if (known !== undefined) return t(known);
  // The server names the field of the API, in its own language.
  if (error.code.startsWith('field_')) return `${t('field')} (${error.message})`;
  return error.message;
}

/** Refusals for which the page has a sentence of its own, in the language that the reader has chosen. */
const KNOWN = [
  'invalid_number',
  'webhook_url_refused',
  'insufficient_balance',
  'signature_format',
  'too_many_endpoints',
  'reference_taken',
  'account_exists',
  'media_unavailable',
  'not_connected',
  'number_reconnecting',
] as const;
