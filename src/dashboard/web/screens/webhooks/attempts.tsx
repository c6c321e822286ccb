import type { WebhookAttempt } from '../../../../client/index.js';
import { Button } from '../../components/button.js';
import { SelectField } from '../../components/field.js';
import { Empty, Failure } from '../../components/notes.js';
import { Section } from '../../components/page.js';
import { Ago, Status } from '../../components/shown.js';
import { type Column, ListTable } from '../../components/table.js';
import { messaging } from '../../core/clients.js';
import { useAction } from '../../core/form.js';
import { LIVE, useList } from '../../core/resource.js';
import { choiceOf, setQuery } from '../../core/router.js';
import { tell } from '../../core/said.js';
import { can } from '../../core/session.js';
import { word } from '../../core/words.js';
import { Body } from './endpoint-parts.js';
import { t } from './webhook-texts.js';
import '../shared/parts.css';

const STATUSES = ['delivered', 'failed'] as const;

/** The calls of an endpoint, each with its request and its answer. */
export function Attempts({ id }: { readonly id: string }) {
  const status = choiceOf('status', STATUSES);
  const list = useList(
    (options) => messaging().webhooks.attempts(id, { status }, options),
    [id, status],
    (attempt) => attempt.id,
    LIVE,
  );
  const columns: readonly Column<WebhookAttempt>[] = [
    { title: word('time'), cell: ({ at }) => <Ago at={at} /> },
    { title: t('event'), cell: (attempt) => <EventsOf of={attempt} /> },
    { title: t('answer'), cell: Answer },
    { title: t('took'), right: true, cell: ({ ms }) => <span class="nowrap">{t('ms', { n: Math.round(ms) })}</span> },
    { title: word('details'), cell: Detail },
    ...(can('webhooks.write')
      ? [
          {
            title: word('actions'),
            quiet: true,
            right: true,
            cell: (attempt: WebhookAttempt) =>
              attempt.sequence !== null && <Retry id={id} sequence={attempt.sequence} />,
          },
        ]
      : []),
  ];
  return (
    <Section
      title={t('attempts')}
      actions={
        <SelectField
          label={word('status')}
          value={status ?? ''}
          options={[
            ['', word('all')],
            ['delivered', t('delivered')],
            ['failed', t('failed')],
          ]}
          onInput={(value) => setQuery({ status: value })}
        />
      }
    >
      <ListTable
        list={list}
        caption={t('attempts')}
        columns={columns}
        identity={(attempt) => attempt.id}
        empty={
          status === undefined ? (
            <Empty title={t('attemptsNone')}>{t('attemptsHow')}</Empty>
          ) : (
            <Empty title={t(status === 'failed' ? 'attemptsNoFailed' : 'attemptsNone')} />
          )
        }
      />
    </Section>
  );
}

function typesOf({ request }: WebhookAttempt): readonly string[] {
  if (request === null) return [];
  return 'events' in request ? request.events.map(({ type }) => type) : [request.type];
}

function EventsOf({ of }: { readonly of: WebhookAttempt }) {
  const [first, ...more] = typesOf(of);
  return (
    <span class="nowrap">
      {of.sequence !== null && <span class="soft">#{of.sequence} </span>}
      <code>{first ?? (of.sequence === null ? 'test.ping' : '–')}</code>
      {more.length > 0 && <span class="soft"> {t('more', { n: more.length })}</span>}
    </span>
  );
}

function Answer({ status, http_status, error }: WebhookAttempt) {
  return (
    <Status
      of={status}
      text={http_status === null ? `${t('noAnswer')}${error === null ? '' : ` · ${error}`}` : String(http_status)}
    />
  );
}

function Detail({ request, response, sequence }: WebhookAttempt) {
  return (
    <details>
      <summary>
        {word('details')}
        <span class="hidden-text"> {sequence}</span>
      </summary>
      <div class="attempt-detail">
        <h3>{t('request')}</h3>
        {request === null ? <p class="soft">{t('requestGone')}</p> : <Body of={request} />}
        <h3>{t('response')}</h3>
        {response === null ? <p class="soft">{t('responseHidden')}</p> : <Body of={response} />}
      </div>
    </details>
  );
}

function Retry({ id, sequence }: { readonly id: string; readonly sequence: number }) {
  const retry = useAction((idempotencyKey) => messaging().webhooks.retry(id, sequence, { idempotencyKey }));
  const again = async (): Promise<void> => {
    if (await retry.run()) tell({ said: t('retried') });
  };
  return (
    <>
      <Button busy={retry.busy} label={t('retryThis', { n: String(sequence) })} onClick={() => void again()}>
        {t('retry')}
      </Button>
      <Failure error={retry.error} />
    </>
  );
}
