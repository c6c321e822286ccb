/** The account that the demo makes. */
export const SHOP = { id: 'boutique', name: 'Faso Boutique' } as const;

/** A text of the demo. */
export interface DemoText {
  readonly signature: string;
  readonly content: string;
  /** How many numbers get it. */
  readonly numbers: number;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** The texts that the shop sends. */
export const SHOP_TEXTS: readonly DemoText[] = [
  {
    signature: 'FASO SHOP',
    content: 'Votre commande est prête. Retrait de 8 h à 19 h, avenue Kwame Nkrumah.',
    numbers: 2,
    metadata: { type: 'commande' },
  },
  {
    signature: 'FASO SHOP',
    content: 'Le livreur est en route : il appellera dans 20 minutes environ.',
    numbers: 1,
    metadata: { type: 'livraison' },
  },
  {
    signature: 'FASO SHOP',
    content: 'Marché du samedi : 15 % sur le riz, l’huile et le savon. Bonne journée à tous 🌞',
    numbers: 9,
    metadata: { campaign: 'samedi' },
  },
  {
    signature: 'INFOS',
    content: 'Facture 2026-117 : 24 500 FCFA. Merci de régler avant vendredi.',
    numbers: 1,
    metadata: { type: 'facture' },
  },
  {
    signature: 'FASO SHOP',
    content:
      'Nous avons bien reçu votre paiement. Conservez ce message : il vaut reçu. Pour toute question, répondez à ce numéro ou passez à la boutique, du lundi au samedi.',
    numbers: 2,
    metadata: { type: 'reçu' },
  },
  {
    signature: 'ALERTE',
    content: 'Coupure d’électricité annoncée demain de 9 h à 12 h : la boutique ouvre à 13 h.',
    numbers: 5,
  },
  { signature: 'FASO SHOP', content: 'مرحبا، طلبك جاهز للاستلام.', numbers: 1, metadata: { lang: 'ar' } },
];

/** The texts that the first account sends. */
export const DEMO_TEXTS: readonly DemoText[] = [
  {
    signature: 'INFOS',
    content: 'Bonjour ! Votre rendez-vous est confirmé pour demain à 10 h.',
    numbers: 1,
    metadata: { type: 'rendez-vous' },
  },
  { signature: 'SERVICE', content: 'Rappel : votre abonnement se termine dans 3 jours.', numbers: 3 },
  {
    signature: 'ALERTE',
    content: 'Température élevée dans la chambre froide 2.',
    numbers: 2,
    metadata: { sensor: 'cf-2' },
  },
];

/** The recipients. Most are in the home market, some are abroad. The sandbox refuses one, loses one and does not reach one. */
export const CUSTOMERS: readonly string[] = [
  ...[
    '22670112233',
    '22671223344',
    '22676334455',
    '22678445566',
    '22660556677',
    '22665667788',
    '22657778899',
    '22654889900',
  ],
  ...['22670151617', '22671181920', '22676212223', '22678242526', '22660272829', '22666303132'],
  ...['2250708091011', '2250545464748', '221771234567', '22890112233', '33612345678'],
  ...['22670990001', '22670990003', '22670990004'],
];

/** A customer whose SMS the sandbox delays for some seconds. */
export const BUSY_CUSTOMER = '22670990002';

/** The answers of customers. */
export const REPLIES: readonly string[] = [
  'Merci, je passe demain.',
  'C’est noté 👍',
  'Vous livrez aussi à Bobo ?',
  'STOP',
];

/** The hours (UTC) of a day in which something is sent. */
export const HOURS: readonly number[] = [6.3, 8.1, 9.6, 11.2, 13.9, 16.4, 18.8, 20.5];

/** How many days the demo goes back, so that today can be compared with the same day of last week. */
export const DAYS = 8;
