export const ROLES = ['admin', 'operator'] as const;

type Shown = readonly (readonly [screen: string, title: RegExp])[];

/** The screens that each role sees, with their titles. */
export const SCREENS: Readonly<Record<(typeof ROLES)[number], Shown>> = {
  admin: [
    ['overview', /^(Overview|Vue d’ensemble)$/],
    ['signatures', /^Signatures$/],
    ['optouts', /^(Opt-outs|Désinscriptions)$/],
    ['messages', /^Messages$/],
    ['messages/m-2', /^Message (to|à) /],
    ['compose', /^(Compose|Rédiger)$/],
    ['scheduled', /^(Scheduled|Programmés)$/],
    ['campaigns', /^(Campaigns|Campagnes)$/],
    ['campaigns/c-1', /^Soldes$/],
    ['codes', /^Codes$/],
    ['numbers', /^(Numbers|Numéros)$/],
    ['webhooks', /^Webhooks$/],
    ['webhooks/w-1', /./],
    ['webhooks/live', /^(Live events|Événements en direct)$/],
    ['hooks', /^(Log-in hooks|Hooks de connexion)$/],
    ['hooks/h-1', /./],
    ['keys', /^(Keys|Clés)$/],
    ['balance', /^(Balance|Solde)$/],
    ['audit', /^(Audit|Journal d’audit)$/],
  ],
  operator: [
    ['manage/accounts', /^(Accounts|Comptes)$/],
    ['manage/accounts/acc_1', /^(Pharmacie du Centre|acc_1)$/],
    ['manage/signatures', /^(Signatures waiting|Signatures en attente)$/],
    ['manage/carriers', /^(Carriers|Opérateurs)$/],
    ['manage/queue', /^(Queue|File d’attente)$/],
    ['manage/ledger', /^(Ledger check|Contrôle du registre)$/],
    ['manage/audit', /^(Audit|Journal d’audit)$/],
    ['manage/system', /^(System|Système)$/],
  ],
};
