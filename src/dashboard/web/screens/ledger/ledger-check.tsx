import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { LedgerCheck as LastCheck } from '../../../../client/manage/index.js';
import { Button } from '../../components/button.js';
import { Empty, Failure, Loading, Note } from '../../components/notes.js';
import { Facts, Screen } from '../../components/page.js';
import { Ago, Status } from '../../components/shown.js';
import { manage } from '../../core/clients.js';
import { useAction } from '../../core/form.js';
import { number } from '../../core/format.js';
import { texts } from '../../core/i18n.js';
import { useResource } from '../../core/resource.js';
import { can } from '../../core/session.js';
import { word } from '../../core/words.js';

const t = texts(
  {
    title: 'Ledger check',
    lead: 'A check compares every balance with its entries, and every entry with its message. It runs in the background and changes nothing.',
    start: 'Start a check',
    never: 'The ledger has not been checked yet',
    neverHow: 'A check reads everything once. On a large ledger it takes a while.',
    right: 'The ledger is correct.',
    found: '{n} {n|finding|findings}',
    failed: 'The check could not finish. Start it again.',
    part: 'Part',
    checked: 'Checked',
    started: 'Started',
    ended: 'Ended',
    running: 'Checking: {n} checked in part {part} of {of}, {name}',
    starting: 'The check is starting…',
    cut: 'The connection was cut. The check continues. Reconnecting.',
    accounts: 'accounts',
    entries: 'entries',
    messages: 'messages',
    recipients: 'recipients',
  },
  {
    title: 'Contrôle du registre',
    lead: 'Un contrôle compare chaque solde à ses écritures, et chaque écriture à son message. Il tourne en arrière-plan et ne change rien.',
    start: 'Lancer un contrôle',
    never: 'Le registre n’a pas encore été contrôlé',
    neverHow: 'Un contrôle lit tout une fois. Sur un grand registre, cela prend du temps.',
    right: 'Le registre est juste.',
    found: '{n} {n|constat|constats}',
    failed: 'Le contrôle n’a pas pu se terminer. Relancez-le.',
    part: 'Partie',
    checked: 'Contrôlé',
    started: 'Commencé',
    ended: 'Terminé',
    running: 'Le contrôle tourne : {n} contrôlés dans la partie {part} sur {of}, {name}',
    starting: 'Le contrôle commence…',
    cut: 'La connexion a été coupée. Le contrôle continue. Reconnexion en cours.',
    accounts: 'comptes',
    entries: 'écritures',
    messages: 'messages',
    recipients: 'destinataires',
  },
);

/** The parts of a check, in their order. Nobody knows beforehand how many rows each has. */
const PARTS: readonly (string | null)[] = ['accounts', 'entries', 'messages', 'recipients'];

/** How often the page asks whether somebody else has started a check, in milliseconds. */
const EVERY = 15_000;

/**
 * Returns the last check. While a check runs, the page follows its stream. The stream begins with the current state, so the page
 * misses nothing if the connection was cut.
 */
function useCheck() {
  const last = useResource((signal) => manage().operator.ledgerCheck({ signal }), [], EVERY);
  const progress = useSignal<LastCheck | undefined>(undefined);
  const isCut = useSignal(false);
  const running = last.data?.state === 'running' ? last.data.id : undefined;
  useEffect(() => {
    isCut.value = false;
    if (running === undefined) return;
    const over = new AbortController();
    const follow = async (): Promise<void> => {
      const onState = (state: 'open' | 'waiting'): void => {
        isCut.value = state === 'waiting';
      };
      for await (const step of manage().operator.watchLedgerCheck({ signal: over.signal, onState }))
        progress.value = step;
      await last.reload();
    };
    // If the stream is refused, polling still shows the progress of the check.
    follow().catch(() => undefined);
    return () => over.abort();
  }, [running]);
  const live = running !== undefined && progress.value?.id === running ? progress.value : last.data;
  return { ...last, data: live, isCut: isCut.value };
}

/** Starts a check of the ledger, and shows its progress and what it finds. */
export function LedgerCheck() {
  const { data, error, reload, isCut } = useCheck();
  const begin = useAction(async (idempotencyKey) => {
    await manage().operator.checkLedger({ idempotencyKey });
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
      {isCut && <Note tone="warn">{t('cut')}</Note>}
      {data?.state === 'none' && <Empty title={t('never')}>{t('neverHow')}</Empty>}
      {data ? data.state !== 'none' && <Check of={data} /> : error === undefined && <Loading />}
    </Screen>
  );
}

function Check({ of: { state, part, checked, findings, started_at, ended_at } }: { readonly of: LastCheck }) {
  const at = PARTS.indexOf(part);
  return (
    <>
      {state === 'running' && (
        <div class="progress">
          <progress aria-label={t('title')} max={PARTS.length} value={at < 0 ? undefined : at + 0.5} />
          <p role="status">
            {at < 0
              ? t('starting')
              : t('running', { n: checked, part: at + 1, of: PARTS.length, name: t.of(part ?? '') })}
          </p>
        </div>
      )}
      {state === 'failed' && <Note tone="bad">{t('failed')}</Note>}
      {state === 'done' && findings.length === 0 && <Note tone="good">{t('right')}</Note>}
      {findings.length > 0 && <Note tone="bad">{t('found', { n: findings.length })}</Note>}
      <div class="card">
        <Facts
          of={[
            [word('status'), <Status key="state" of={state} />],
            [t('part'), part === null ? '–' : t.of(part)],
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
