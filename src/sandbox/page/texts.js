/* The page's texts, in English unless the browser prefers French, and its formats of times and sizes. */

const TEXTS = {
  fr: {
    title: 'Téléphones du bac à sable',
    lead: 'Ce que vos destinataires verraient. Aucun opérateur, aucun message réel.',
    skip: 'Aller aux téléphones',
    filter: 'Filtrer par numéro',
    waiting: 'Connexion…',
    live: 'En direct',
    lost: 'Reconnexion…',
    emptyTitle: 'Aucun message pour l’instant',
    emptyText: 'Envoyez le premier : le téléphone du destinataire apparaît ici dès qu’il le reçoit.',
    copy: 'Copier la commande',
    copied: 'Copié',
    codesTitle: 'Codes QR à scanner',
    qr: (channel) => `Code QR d’une session ${channel}`,
    scanAs: 'Scanner avec le téléphone de',
    scan: 'Scanner',
    scanNumber: 'Un numéro international, en chiffres.',
    scanGone: 'Ce code n’est plus affiché.',
    scanFailed: 'Le téléphone ne répond pas, réessayez.',
    linked: (number, channel) => `${number} est connecté à ${channel}`,
    key: 'VOTRE_CLE',
    hello: 'Bonjour du bac à sable',
    magicTitle: 'Numéros qui échouent exprès',
    magic1: 'refusé pour de bon, remboursé',
    magic2: 'deux erreurs passagères, puis remis',
    magic3: 'accepté, jamais confirmé',
    magic4: 'accepté, puis non remis',
    warning: 'Cette page montre les messages et leurs codes à qui l’ouvre : jamais en production.',
    messages: (n) => n + (n > 1 ? ' messages' : ' message'),
    phones: (n) => n + (n > 1 ? ' téléphones' : ' téléphone'),
    newest: (n) => `Les ${n} téléphones les plus récents`,
    unread: (n) => n + (n > 1 ? ' nouveaux' : ' nouveau'),
    none: (filter) => `Aucun téléphone ne correspond à « ${filter} ».`,
    screen: (number) => `Messages de ${number}`,
    arrived: (from, number) => `Nouveau message de ${from} pour ${number}`,
    arrivedMany: (n) => `${n} nouveaux messages`,
    units: ['octets', 'ko', 'Mo'],
    docs: 'Documentation de l’API',
    linksTitle: 'Numéros connectés',
    isLinked: (channel) => `connecté à ${channel}`,
    cost: (units) => units + (units > 1 ? ' unités' : ' unité'),
    refunded: (units) => `${units} ${units > 1 ? 'unités remboursées' : 'unité remboursée'}`,
    picture: (name) => `Image ${name}`,
    sound: (name) => `Son ${name}`,
    voice: (name) => `Note vocale ${name}`,
    video: (name) => `Vidéo ${name}`,
    save: 'Enregistrer',
    fileGone: 'Fichier effacé : les téléphones gardent les fichiers 7 jours.',
    fileBroken:
      'Ce fichier n’est pas lisible : il n’est pas ce qu’il dit être, ou ce navigateur ne connaît pas son format.',
    fileLost: 'Fichier non reçu',
    send: 'Envoyer',
    replyTo: (name) => `Répondre à ${name}`,
    replySent: 'Envoyé',
    replyFailed: 'Le message n’est pas parti : personne n’attend de réponse ici.',
    clear: 'Tout effacer',
    clearTitle: 'Effacer tous les messages ?',
    clearText: 'Les téléphones seront vides. Les comptes, les soldes et l’historique de l’API ne changent pas.',
    clearNo: 'Annuler',
    clearYes: 'Effacer',
    clearFailed: 'Les téléphones n’ont pas pu être vidés, réessayez.',
    cleared: 'Les téléphones sont vides',
    reasons: {
      'sandbox: refused': 'refusé par l’opérateur',
      'sandbox: temporary error': 'erreur passagère, nouvel essai',
      'sandbox: undelivered': 'le téléphone n’a pas été joint',
    },
    because: (status, reason) => `${status} : ${reason}`,
    hooksTitle: 'Webhooks reçus',
    hooksText:
      'Créez un webhook qui appelle cette page : chaque événement du compte apparaît ici, avec sa signature vérifiée.',
    hookSigns: { holds: 'Signature valide', fails: 'Signature invalide', unknown: 'Aucun webhook à cette adresse' },
    hookBody: 'Contenu',
    hookOther: 'Appel sans événement',
    hookEvents: (n) => `${n} événements`,
    hookNumber: (numbers) => `n° ${numbers}`,
    noReceiptYet: 'accepté par l’opérateur, sans confirmation pour l’instant',
    noReceipt: 'accepté par l’opérateur, jamais confirmé',
  },
  en: {
    title: 'Sandbox phones',
    lead: 'What your recipients would see. No carrier, no real message.',
    skip: 'Skip to the phones',
    filter: 'Filter by number',
    waiting: 'Connecting…',
    live: 'Live',
    lost: 'Reconnecting…',
    emptyTitle: 'No messages yet',
    emptyText: 'Send the first message: the recipient’s phone appears here as soon as it arrives.',
    copy: 'Copy the command',
    copied: 'Copied',
    codesTitle: 'QR codes to scan',
    qr: (channel) => `QR code of a ${channel} session`,
    scanAs: 'Scan with the phone of',
    scan: 'Scan',
    scanNumber: 'An international number, in digits.',
    scanGone: 'This code is no longer shown.',
    scanFailed: 'The phone does not answer, try again.',
    linked: (number, channel) => `${number} is linked to ${channel}`,
    key: 'YOUR_KEY',
    hello: 'Hello from the sandbox',
    magicTitle: 'Numbers that fail on purpose',
    magic1: 'refused for good, refunded',
    magic2: 'two temporary errors, then delivered',
    magic3: 'accepted, never confirmed',
    magic4: 'accepted, then undelivered',
    warning: 'This page shows messages and their codes to whoever opens it: never in production.',
    messages: (n) => n + (n === 1 ? ' message' : ' messages'),
    phones: (n) => n + (n === 1 ? ' phone' : ' phones'),
    newest: (n) => `The ${n} most recent phones`,
    unread: (n) => `${n} new`,
    none: (filter) => `No phone matches “${filter}”.`,
    screen: (number) => `Messages of ${number}`,
    arrived: (from, number) => `New message from ${from} for ${number}`,
    arrivedMany: (n) => `${n} new messages`,
    units: ['bytes', 'kB', 'MB'],
    docs: 'API documentation',
    linksTitle: 'Linked numbers',
    isLinked: (channel) => `linked to ${channel}`,
    cost: (units) => units + (units === 1 ? ' unit' : ' units'),
    refunded: (units) => `${units} ${units === 1 ? 'unit' : 'units'} refunded`,
    picture: (name) => `Picture ${name}`,
    sound: (name) => `Sound ${name}`,
    voice: (name) => `Voice note ${name}`,
    video: (name) => `Video ${name}`,
    save: 'Save',
    fileGone: 'File removed: phones keep files for 7 days.',
    fileBroken: 'This file cannot be read: it is not what it says it is, or this browser does not know its format.',
    fileLost: 'File not received',
    send: 'Send',
    replyTo: (name) => `Reply to ${name}`,
    replySent: 'Sent',
    replyFailed: 'The message was not sent: nobody takes answers here.',
    clear: 'Clear all',
    clearTitle: 'Remove all messages?',
    clearText: 'The phones will be empty. Accounts, balances and the history of the API stay as they are.',
    clearNo: 'Cancel',
    clearYes: 'Remove',
    clearFailed: 'The phones could not be cleared, try again.',
    cleared: 'The phones are empty',
    reasons: {
      'sandbox: refused': 'refused by the carrier',
      'sandbox: temporary error': 'temporary error, will be tried again',
      'sandbox: undelivered': 'the phone was not reached',
    },
    because: (status, reason) => `${status}: ${reason}`,
    hooksTitle: 'Received webhooks',
    hooksText:
      'Make a webhook that calls this page: each event of the account appears here, with its signature checked.',
    hookSigns: { holds: 'Signature valid', fails: 'Signature invalid', unknown: 'No webhook at this address' },
    hookBody: 'Body',
    hookOther: 'A call without an event',
    hookEvents: (n) => `${n} events`,
    hookNumber: (numbers) => `no. ${numbers}`,
    noReceiptYet: 'accepted by the carrier, not confirmed yet',
    noReceipt: 'accepted by the carrier, never confirmed',
  },
};

const preferred = navigator.language || '';
const language = /^fr(-|$)/i.test(preferred) ? 'fr' : 'en';
const texts = TEXTS[language];
const clockTime = new Intl.DateTimeFormat(preferred.startsWith(language) ? preferred : language, {
  hour: '2-digit',
  minute: '2-digit',
});
const fullTime = new Intl.DateTimeFormat(language, { dateStyle: 'full', timeStyle: 'medium' });
const dayName = new Intl.DateTimeFormat(language, { weekday: 'long', day: 'numeric', month: 'long' });
const nearDay = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });

function translatePage() {
  document.documentElement.lang = language;
  for (const element of document.querySelectorAll('[data-text]')) element.textContent = texts[element.dataset.text];
}

/** The name of a state of a delivery. `STATES` is the server's table. */
function statusText(status) {
  return STATES[status].name[language];
}

/** Returns midnight of a date in the browser's time zone, so that equal days compare as equal. */
function dayOf(date) {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}

/** Returns "today" or "yesterday" for these days, and the date for other days. */
function dayText(day) {
  const ago = Math.round((dayOf(new Date()) - day) / 86400000);
  return ago === 0 || ago === 1 ? nearDay.format(-ago, 'day') : dayName.format(day);
}

function sizeText(bytes) {
  const step = bytes < 1000 ? 0 : bytes < 1e6 ? 1 : 2;
  return `${(bytes / 1000 ** step).toLocaleString(language, { maximumFractionDigits: 1 })} ${texts.units[step]}`;
}
