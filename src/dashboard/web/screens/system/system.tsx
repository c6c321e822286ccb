import type { System as SystemView } from '../../../../client/manage/index.js';
import { Button } from '../../components/button.js';
import { Empty, Failure, Loading, Note } from '../../components/notes.js';
import { Facts, Screen, Section } from '../../components/page.js';
import { Ago } from '../../components/shown.js';
import { Table } from '../../components/table.js';
import { manage } from '../../core/clients.js';
import { texts } from '../../core/i18n.js';
import { useResource } from '../../core/resource.js';
import { word } from '../../core/words.js';

const t = texts(
  {
    title: 'System',
    lead: 'The state of this process and its database.',
    version: 'Version',
    node: 'Node.js',
    role: 'This process delivers',
    role_all: 'all messages',
    role_api: 'nothing',
    role_worker: 'messages that need no linked number',
    role_sessions: 'messages of its linked numbers',
    skew: 'Clock difference to the database',
    ms: '{n} ms',
    unknown: 'not known',
    storage: 'Storage',
    todo: 'To do',
    fine: 'Storage is healthy.',
    others: 'Details ({n})',
    workers: 'Workers',
    worker: 'Worker',
    lastRound: 'Last round',
    noWorkers: 'No workers run in this process',
    noWorkersHow: 'They may run in another process.',
  },
  {
    title: 'Système',
    lead: 'L’état de ce processus et de sa base de données.',
    version: 'Version',
    node: 'Node.js',
    role: 'Ce processus transmet',
    role_all: 'tous les messages',
    role_api: 'rien',
    role_worker: 'les messages qui n’ont pas besoin d’un numéro lié',
    role_sessions: 'les messages de ses numéros liés',
    skew: 'Horloge par rapport à la base',
    ms: '{n} ms',
    unknown: 'non connu',
    storage: 'Stockage',
    todo: 'À faire',
    fine: 'Le stockage est en bon état.',
    others: 'Détails ({n})',
    workers: 'Tâches de fond',
    worker: 'Tâche',
    lastRound: 'Dernier passage',
    noWorkers: 'Aucune tâche ne tourne dans ce processus',
    noWorkersHow: 'Elles tournent peut-être dans un autre processus.',
  },
);

/** The state of this process and its storage, and the tasks for an operator. */
export function System() {
  const { data, error, loading, reload } = useResource((signal) => manage().operator.system({ signal }), [], 15_000);
  return (
    <Screen
      title={t('title')}
      lead={t('lead')}
      actions={
        <Button busy={loading} onClick={() => void reload()}>
          {word('reload')}
        </Button>
      }
    >
      <Failure error={error} onRetry={() => void reload()} />
      {data ? <Content of={data} /> : error === undefined && <Loading />}
    </Screen>
  );
}

function Content({ of: { version, node, role, clock_skew_ms: skew, storage, workers } }: { readonly of: SystemView }) {
  const findings = storage.filter(({ todo }) => todo);
  const others = storage.filter(({ todo }) => !todo);
  return (
    <>
      <div class="card">
        <Facts
          of={[
            [t('version'), version],
            [t('node'), node],
            [t('role'), t(`role_${role}`)],
            [t('skew'), skew === null ? t('unknown') : t('ms', { n: Math.round(skew) })],
          ]}
        />
      </div>
      <Section title={t('storage')}>
        {findings.length === 0 && <Note tone="good">{t('fine')}</Note>}
        <ul class="findings">
          {findings.map(({ text }) => (
            <li key={text} class="note warn">
              <span>
                <strong>{t('todo')}:</strong> {text}
              </span>
            </li>
          ))}
        </ul>
        {others.length > 0 && (
          <details>
            <summary>{t('others', { n: others.length })}</summary>
            <ul class="findings">
              {others.map(({ text }) => (
                <li key={text}>{text}</li>
              ))}
            </ul>
          </details>
        )}
      </Section>
      <Section title={t('workers')}>
        {workers.length === 0 ? (
          <Empty title={t('noWorkers')}>{t('noWorkersHow')}</Empty>
        ) : (
          <Table
            caption={t('workers')}
            rows={workers}
            identity={({ name }) => name}
            columns={[
              { title: t('worker'), cell: ({ name }) => name },
              { title: t('lastRound'), cell: ({ last_round }) => <Ago at={last_round} /> },
            ]}
          />
        )}
      </Section>
    </>
  );
}
