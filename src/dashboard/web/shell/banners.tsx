import type { Standstill } from '../../../client/manage/index.js';
import { Note } from '../components/notes.js';
import { manage } from '../core/clients.js';
import { texts } from '../core/i18n.js';
import { useResource } from '../core/resource.js';
import { chosenAccount, hrefOf } from '../core/router.js';
import { isVisible, type ScreenEntry, screenAt } from '../core/screens.js';
import { me } from '../core/session.js';

const t = texts(
  {
    looking: 'You are looking at the account {account}.',
    leave: 'Back to the accounts',
    suspended: 'This account is suspended: it sends nothing.',
    closed: 'This account is closed.',
    deliveries_paused: 'The operator has paused deliveries: {channel}. Messages wait until they are resumed.',
    paused_for: 'Deliveries are paused: {channel}, {account}.',
    no_route: 'No route is available: {channel}. Messages wait until one is.',
    webhook_failing: 'An endpoint is failing. Its events wait until it answers again.',
    allChannels: 'all channels',
    allAccounts: 'all accounts',
    show: 'View',
  },
  {
    looking: 'Vous consultez le compte {account}.',
    leave: 'Retour aux comptes',
    suspended: 'Ce compte est suspendu : il n’envoie rien.',
    closed: 'Ce compte est fermé.',
    deliveries_paused: 'L’exploitant a mis en pause les envois : {channel}. Les messages attendent la reprise.',
    paused_for: 'Envois en pause : {channel}, {account}.',
    no_route: 'Aucune route n’est disponible : {channel}. Les messages attendent.',
    webhook_failing: 'Un point de terminaison est en échec. Ses événements attendent qu’il réponde de nouveau.',
    allChannels: 'tous les canaux',
    allAccounts: 'tous les comptes',
    show: 'Voir',
  },
);

/** How often the account and its standstills are asked for, in milliseconds. */
const STATE_MS = 15_000;

/** Shows what concerns every screen: the account that an operator looks at, its state, and why messages or calls wait. */
export function Banners({ screen }: { readonly screen: ScreenEntry | undefined }) {
  const chosen = chosenAccount();
  const { data = me.value } = useResource((signal) => manage().account.me({ signal }), [chosen], STATE_MS);
  const { account, standstills = [] } = data ?? {};
  const state = account?.state === 'suspended' || account?.state === 'closed' ? t(account.state) : undefined;
  return (
    <>
      {chosen === undefined ? (
        state && <Note tone="warn">{state}</Note>
      ) : (
        <Note tone={state ? 'warn' : 'calm'}>
          <p dir="auto">
            {t('looking', { account: account?.id === chosen ? account.name : chosen })} {state}
          </p>
          <a href="#/manage/accounts">{t('leave')}</a>
        </Note>
      )}
      {standstills
        .filter(({ kind }) => concerns(screen, kind))
        .map((standstill) => (
          <Standing key={JSON.stringify(standstill)} of={standstill} />
        ))}
    </>
  );
}

/** A failing endpoint is shown on the screens of webhooks. Paused deliveries and missing routes are shown to whoever sends, and to the operator. */
function concerns(screen: ScreenEntry | undefined, kind: Standstill['kind']): boolean {
  if (kind === 'webhook_failing') return screen?.path === 'webhooks';
  return screen?.group === 'send' || screen?.group === 'operator';
}

/** The screen on which the operator, or a user of the account, can end each standstill. */
const PLACES = { deliveries_paused: 'manage/queue', no_route: 'manage/carriers', webhook_failing: 'webhooks' };

function Standing({ of: { kind, channel, target } }: { readonly of: Standstill }) {
  const names = {
    channel: channel === null ? t('allChannels') : channel === 'sms' ? 'SMS' : channel,
    account: target ?? t('allAccounts'),
  };
  const isOperator = me.value?.operator !== null;
  const path = PLACES[kind];
  const place = screenAt(path)?.screen;
  return (
    <Note tone="warn">
      <p dir="auto">{t(kind === 'deliveries_paused' && isOperator ? 'paused_for' : kind, names)}</p>
      {place && isVisible(place) && (
        <a href={kind === 'webhook_failing' ? hrefOf(`webhooks/${target}`) : hrefOf(path)}>{t('show')}</a>
      )}
    </Note>
  );
}
