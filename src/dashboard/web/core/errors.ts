import { MessagingApiError } from '../../../client/index.js';
import { texts } from './i18n.js';

const t = texts(
  {
    away: 'The server does not answer. What you typed is not lost. Try again.',
    role: 'Your role does not allow this.',
    ended: 'Your session has ended. Sign in again to go on.',
    fault: 'Something went wrong in this page. Try again, or reload it.',
    refused: 'Sign-in was refused. A link works once, for a few minutes. Ask for a new one.',
    suspended: 'This account is suspended. You can view it, but it cannot send.',
    rate: 'Too many requests. Try again in a moment.',
    unavailable: 'The service is not available at the moment. Try again.',
    invalid_number: 'One of the numbers is not a phone number with its country code.',
    webhook_url_refused: 'This address cannot be called. It must be public and begin with https.',
    insufficient_balance: 'The balance is too low.',
    signature_format: 'A signature has 1 to 11 characters with at least one letter, or 3 to 15 digits.',
    too_many_endpoints: 'This account has the maximum number of webhooks.',
    reference_taken: 'Another entry already has this reference.',
    account_exists: 'An account with this id already exists.',
    media_unavailable: 'The service could not fetch the file from its address.',
    not_connected: 'The number is not linked at the moment.',
    number_reconnecting: 'The number has lost its connection and is reconnecting. Try again in a moment.',
    field: 'One of the fields is not valid.',
  },
  {
    away: 'Le serveur ne répond pas. Rien de ce que vous avez saisi n’est perdu ; réessayez.',
    role: 'Votre rôle ne le permet pas.',
    ended: 'Votre session est terminée. Reconnectez-vous pour continuer.',
    fault: 'Une erreur s’est produite ici. Réessayez ou rechargez la page.',
    refused: 'Connexion refusée. Un lien ne sert qu’une fois, pendant quelques minutes. Demandez-en un autre.',
    suspended: 'Ce compte est suspendu. Vous pouvez le consulter, mais il ne peut rien envoyer.',
    rate: 'Trop de requêtes. Réessayez dans un instant.',
    unavailable: 'Le service n’est pas disponible pour le moment. Réessayez.',
    invalid_number: 'L’un des numéros n’est pas un numéro de téléphone avec son indicatif.',
    webhook_url_refused: 'Cette adresse ne peut pas être appelée. Elle doit être publique et commencer par https.',
    insufficient_balance: 'Le solde ne suffit pas.',
    signature_format: 'Une signature a 1 à 11 caractères avec au moins une lettre, ou 3 à 15 chiffres.',
    too_many_endpoints: 'Ce compte a le nombre maximal de webhooks.',
    reference_taken: 'Une autre écriture a déjà cette référence.',
    account_exists: 'Un compte a déjà cet identifiant.',
    media_unavailable: 'Le fichier n’a pas pu être récupéré à son adresse.',
    not_connected: 'Le numéro n’est pas lié en ce moment.',
    number_reconnecting: 'Le numéro a perdu sa connexion et se reconnecte. Réessayez dans un instant.',
    field: 'L’un des champs n’est pas valide.',
  },
);

/** Whether no answer came, because the service or the network is down. The service may still have carried out the request. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof MessagingApiError && error.status === 0;
}

/** Whether the API answered that something does not exist. */
export function isMissing(error: unknown): boolean {
  return error instanceof MessagingApiError && error.status === 404;
}

/** Whether the same request may succeed later without a change. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof MessagingApiError)) return false;
  const { status, code } = error;
  return status === 0 || status >= 500 || status === 429 || code === 'number_reconnecting';
}

/**
 * Returns the sentence for an error. If the page has its own sentence in the reader's language, it is used, else the server's
 * sentence.
 */
export function sentenceOf(error: unknown): string {
  if (isUnreachable(error)) return t('away');
  if (!(error instanceof MessagingApiError)) return t('fault');
  if (error.code === 'link_refused') return t('refused');
  if (error.status === 401) return t('ended');
  if (error.code === 'role_missing' || error.code === 'user_required') return t('role');
  if (error.code === 'account_suspended') return t('suspended');
  if (error.status === 503 || error.status === 504) return t('unavailable');
  if (error.status === 429 && error.code !== 'key_cap') return t('rate');
  const known = KNOWN.find((code) => code === error.code);
  // The server's sentence ends with the wrong number.
  if (known === 'invalid_number') return `${t(known)} (${error.message.split(': ').at(-1)})`;
  if (known !== undefined) return t(known);
  // The server's sentence names the field of the API, in the language of the service.
  if (error.code.startsWith('field_')) return `${t('field')} (${error.message})`;
  return error.message;
}

/** Refusals for which the page has its own sentence, in the language that the reader has chosen. */
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
