import { useSignal } from '@preact/signals';
import type { CarrierRoute, UnreadNumber } from '../../../../client/manage/index.js';
import { Button } from '../../components/button.js';
import { Confirm } from '../../components/dialog.js';
import { Empty, Failure, Loading, Note } from '../../components/notes.js';
import { Screen, Section } from '../../components/page.js';
import { Ago, Status } from '../../components/shown.js';
import { type Column, Table } from '../../components/table.js';
import { manage } from '../../core/clients.js';
import { isPassing } from '../../core/errors.js';
import { number } from '../../core/format.js';
import { LIVE, useResource } from '../../core/resource.js';
import { type Act, act } from '../../core/said.js';
import { can } from '../../core/session.js';
import { word } from '../../core/words.js';
import { routeState, t } from './carriers-texts.js';
import '../shared/parts.css';

/** The routes of the SMS transport. An operator can rest and resume each. */
export function Carriers() {
  const { data, error, reload } = useResource((signal) => manage().operator.carriers({ signal }), [], LIVE);
  const resting = useSignal<CarrierRoute | undefined>(undefined);
  const columns: readonly Column<CarrierRoute>[] = [
    { title: t('route'), cell: ({ name }) => <Clipped text={name} /> },
    { title: t('kind'), cell: ({ kind }) => <Clipped text={kind} /> },
    { title: t('state'), cell: ({ state }) => <Status of={state} text={routeState.of(state)} /> },
    { title: t('breaker'), cell: ({ breaker }) => (breaker === null ? t('noBreaker') : t.of(breaker)) },
    {
      title: t('pace'),
      right: true,
      cell: ({ pace }) => (pace === null ? '–' : t('paceOf', { n: pace })),
    },
    { title: t('submits'), right: true, cell: ({ submits }) => <span class="nowrap">{number(submits)}</span> },
    {
      title: t('interruptions'),
      cell: ({ interruptions }) => (interruptions === null ? '–' : t('interruptionsOf', interruptions)),
    },
    { title: t('lastError'), cell: ({ last_error }) => (last_error === null ? '–' : <bdi>{last_error}</bdi>) },
    ...(can('manage.write')
      ? [
          {
            title: word('actions'),
            quiet: true,
            right: true,
            cell: (route: CarrierRoute) => {
              const rests = route.state === 'resting';
              return (
                <Button
                  label={t(rests ? 'resumeThis' : 'restThis', { route: route.name })}
                  onClick={() => {
                    if (rests) void act(resumeOf(route.name, () => void reload()));
                    else resting.value = route;
                  }}
                >
                  {t(rests ? 'resume' : 'rest')}
                </Button>
              );
            },
          },
        ]
      : []),
  ];
  return (
    <Screen title={t('title')} lead={t('lead')}>
      {error !== undefined &&
        (data && isPassing(error) ? (
          <Note tone="warn">{word('stale')}</Note>
        ) : (
          <Failure error={error} onRetry={() => void reload()} />
        ))}
      {data === undefined && error === undefined && <Loading />}
      {data?.routes.length === 0 && <Empty title={t('none')}>{t('noneHow')}</Empty>}
      {data !== undefined && data.routes.length > 0 && (
        <Table caption={t('title')} rows={data.routes} identity={({ name }) => name} columns={columns} />
      )}
      {data?.routes.map((route) => route.links.length > 0 && <Links key={route.name} of={route} />)}
      {data !== undefined && data.unread_numbers.length > 0 && <UnreadNumbers of={data.unread_numbers} />}
      {resting.value && (
        <Rest
          of={resting.value}
          onClose={(done) => {
            resting.value = undefined;
            if (done) void reload();
          }}
        />
      )}
    </Screen>
  );
}

function Clipped({ text }: { readonly text: string }) {
  return (
    <bdi class="clip" title={text}>
      {text}
    </bdi>
  );
}

function UnreadNumbers({ of }: { readonly of: readonly UnreadNumber[] }) {
  return (
    <Section title={t('unread')}>
      <Note tone="warn">{t('unreadWhat')}</Note>
      <Table
        caption={t('unread')}
        rows={of}
        identity={({ route }) => route}
        columns={[
          { title: t('link'), cell: ({ route }) => <Clipped text={route} /> },
          { title: t('unreadCount'), right: true, cell: ({ count }) => number(count) },
          { title: t('unreadLast'), cell: ({ last }) => <bdi>{last}</bdi> },
          { title: t('unreadAt'), cell: ({ last_at }) => <Ago at={last_at} /> },
        ]}
      />
    </Section>
  );
}

function Links({ of: { name, links } }: { readonly of: CarrierRoute }) {
  return (
    <Section title={t('links', { route: name })}>
      <Table
        caption={t('links', { route: name })}
        rows={links}
        identity={(link) => link.name}
        columns={[
          { title: t('link'), cell: (link) => <bdi>{link.name}</bdi> },
          {
            title: t('state'),
            cell: ({ state }) => <Status of={state} tone={state === 'up' ? 'good' : 'bad'} text={t.of(state)} />,
          },
          { title: t('since'), cell: ({ since }) => <Ago at={since} /> },
          {
            title: t('window'),
            right: true,
            cell: ({ window, in_flight: n }) => t('windowOf', { n, of: window }),
          },
        ]}
      />
    </Section>
  );
}

function resumeOf(route: string, after?: () => void): Act {
  const change = (idempotencyKey: string) => manage().operator.resumeCarrier(route, { idempotencyKey });
  return { change, said: t('resumed', { route }), after };
}

function Rest({ of: { name }, onClose }: { readonly of: CarrierRoute; onClose(done: boolean): void }) {
  return (
    <Confirm
      title={t('restThis', { route: name })}
      verb={t('rest')}
      change={(idempotencyKey) => manage().operator.restCarrier(name, { idempotencyKey })}
      said={t('rested', { route: name })}
      undo={resumeOf(name)}
      onClose={onClose}
    >
      <p>{t('restWhat')}</p>
    </Confirm>
  );
}
