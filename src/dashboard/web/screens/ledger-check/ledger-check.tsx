import type { LedgerCheckView } from '../../api-types.js';
import { Button } from '../../components/button.js';
import { Empty, Failure, Loading, Note } from '../../components/notes.js';
import { Facts, Screen } from '../../components/page.js';
import { Ago, Status } from '../../components/shown.js';
import { api } from '../../core/api.js';
import { useAction } from '../../core/form.js';
import { number } from '../../core/format.js';
import { texts } from '../../core/i18n.js';
import { useResource } from '../../core/resource.js';
import { can } from '../../core/session.js';
import { word } from '../../core/words.js';

const t = texts(
  {
    title: 'Ledger check',
    lead: 'Compares every balance with its entries, and every entry with its message. It runs in the background and changes nothing.',
    start: 'Start a check',
    never: 'The ledger was not checked yet',
    neverHow: 'A check reads everything once; on a large ledger it takes a while.',
    right: 'The ledger is right.',
    found: '{n} {n|finding|findings}',
    failed: 'The check could not be finished. Start it again.',
    part: 'Part',
    checked: 'Checked',
    started: 'Started',
    ended: 'Ended',
    running: 'The check runs: {n} checked',
  },
  {
    title: 'Contrôle du registre',
    lead: 'Compare chaque solde à ses écritures, et chaque écriture à son message. Il tourne en arrière-plan et ne change rien.',
    start: 'Lancer un contrôle',
    never: 'Le registre n’a pas encore été contrôlé',
    neverHow: 'Un contrôle lit tout une fois ; sur un grand registre, cela prend du temps.',
    right: 'Le registre est juste.',
    found: '{n} {n|constat|constats}',
    failed: 'Le contrôle n’a pas pu se terminer. Relancez-le.',
    part: 'Partie',
    checked: 'Contrôlé',
    started: 'Commencé',
    ended: 'Terminé',
    running: 'Le contrôle tourne : {n} contrôlés',
  },
);

/** Starts a check of the ledger, and shows how far it is and what it finds. */
export function LedgerCheck() {
  const { data, error, reload } = useResource<LedgerCheckView>(
    (signal) => api.get('manage/ledger/check', {}, signal),
    [],
    1500,
  );
  const begin = useAction(async (key) => {
    await api.post('manage/ledger/check', {}, key);
    await reload();
  });
  const start = can('manage.write') && (
    <Button kind="main" busy={begin.busy || data?.state === 'running'} onClick={() => void begin.run()}>
      {t('start')}
    </Button>
  );
  return (
    <Screen title={t('title')} lead={t('lead')} actions={start}>
      <Failure error={begin.error ?? error} onRetry={() => void reload()} />
      {data?.state === 'none' && <Empty title={t('never')}>{t('neverHow')}</Empty>}
      {data ? data.state !== 'none' && <Check of={data} /> : error === undefined && <Loading />}
    </Screen>
  );
}

function Check({ of: { state, part, checked, findings, started_at, ended_at } }: { readonly of: LedgerCheckView }) {
  return (
    <>
      {state === 'running' && (
        <div class="progress">
          <progress aria-label={t('title')} />
          <p role="status">{t('running', { n: checked })}</p>
        </div>
      )}
      {state === 'failed' && <Note tone="bad">{t('failed')}</Note>}
      {state === 'done' && findings.length === 0 && <Note tone="good">{t('right')}</Note>}
      {findings.length > 0 && <Note tone="bad">{t('found', { n: findings.length })}</Note>}
      <div class="card">
        <Facts
          of={[
            [word('status'), <Status key="state" of={state} />],
            [t('part'), part ?? '–'],
            [t('checked'), number(checked)],
            [t('started'), <Ago key="started" at={started_at} />],
            [t('ended'), ended_at === null ? '–' : <Ago key="ended" at={ended_at} />],
          ]}
        />
      </div>
      <ul class="findings">
        {findings.map((finding) => (
          <li key={finding}>
            <code>{finding}</code>
          </li>
        ))}
      </ul>
    </>
  );
}
