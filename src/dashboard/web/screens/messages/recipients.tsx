import type { SmsRecipient, SmsSummary } from '../../../../client/index.js';
import { SMS_STATUSES } from '../../../../events/delivery-status.js';
import { SelectField } from '../../components/field.js';
import { Empty } from '../../components/notes.js';
import { Section } from '../../components/page.js';
import { Ago, Units } from '../../components/shown.js';
import { ListTable } from '../../components/table.js';
import { messaging } from '../../core/clients.js';
import { LIVE, useList } from '../../core/resource.js';
import { choiceOf, setQuery } from '../../core/router.js';
import { word } from '../../core/words.js';
import { shownNumber } from '../shared/number.js';
import { isAhead, zonedMoment } from '../shared/schedule.js';
import { SizedText } from '../shared/segments.js';
import { DeliveryStatus, nameOf } from './delivery-status.js';
import { stepName, t } from './message-texts.js';
import { stepsOfSms, Timeline } from './timeline.js';

/** The recipients of an SMS, each with its timeline. */
export function Recipients({ of }: { readonly of: SmsSummary }) {
  const status = choiceOf('status', SMS_STATUSES);
  const list = useList(
    (options) => messaging().sms.recipients(of.smsID, { status }, options),
    [of.smsID, status],
    ({ number }) => number,
    LIVE,
  );
  const [only] = list.data ?? [];
  if (of.recipients_count === 1 && status === undefined && only) {
    return (
      <Section title={t('timeline')} actions={<DeliveryStatus of={only.status} />}>
        <div class="card">
          <OwnTimeline of={only} sentAt={of.date_sent} />
        </div>
      </Section>
    );
  }
  return (
    <Section
      title={t('recipients')}
      actions={
        <SelectField
          label={word('status')}
          value={status ?? ''}
          options={[['', word('all')], ...SMS_STATUSES.map((each) => [each, nameOf(each)] as const)]}
          onInput={(value) => setQuery({ status: value })}
        />
      }
    >
      <ListTable
        list={list}
        caption={t('recipients')}
        identity={({ number }) => number}
        empty={<Empty title={t('noRecipients')} />}
        columns={[
          { title: t('recipient'), cell: ({ number }) => <bdi class="nowrap">{shownNumber(number)}</bdi> },
          { title: word('status'), cell: Progress },
          { title: t('reason'), cell: ({ error }) => (error === null ? '–' : <bdi>{stepName.of(error)}</bdi>) },
          { title: word('units'), right: true, cell: Price },
          { title: t('updated'), cell: ({ updated_at }) => <Ago at={updated_at} /> },
          {
            title: t('timeline'),
            cell: (recipient) => (
              <details>
                <summary>
                  {word('details')}
                  <span class="hidden-text"> {shownNumber(recipient.number)}</span>
                </summary>
                <OwnTimeline of={recipient} sentAt={of.date_sent} />
              </details>
            ),
          },
        ]}
      />
    </Section>
  );
}

/** The status of a recipient, and when it is due if it waits for a moment. */
function Progress({ status, due_at }: SmsRecipient) {
  return (
    <span>
      <DeliveryStatus of={status} />
      {isAhead(due_at) && <span class="soft"> {t('due', { at: zonedMoment(due_at) })}</span>}
    </span>
  );
}

/** The timeline of a recipient, under its own text if it has one. */
function OwnTimeline({ of, sentAt }: { readonly of: SmsRecipient; readonly sentAt: string }) {
  return (
    <>
      {of.content !== null && (
        <section class="own-text" aria-label={t('ownText')}>
          <SizedText of={of.content} />
        </section>
      )}
      <Timeline label={t('timelineOf', { number: shownNumber(of.number) })} steps={stepsOfSms(of, sentAt)} />
    </>
  );
}

function Price({ units, refunded_units: refunded }: SmsRecipient) {
  return (
    <span>
      <Units of={units} />
      {refunded > 0 && <span class="soft"> ({t('refunded', { n: refunded })})</span>}
    </span>
  );
}
