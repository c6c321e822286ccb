import { useSignal } from '@preact/signals';
import type { MsgappSession } from '../../../../client/index.js';
import { isFinal, type SessionStatus as State } from '../../../../events/session-status.js';
import { Button } from '../../components/button.js';
import { Confirm } from '../../components/dialog.js';
import { Empty, Failure, Loading, Note } from '../../components/notes.js';
import { Screen, Section } from '../../components/page.js';
import { Ago, Status, type Tone } from '../../components/shown.js';
import { Table } from '../../components/table.js';
import { messaging } from '../../core/clients.js';
import { isPassing } from '../../core/errors.js';
import { LIVE, useResource } from '../../core/resource.js';
import { can, me } from '../../core/session.js';
import { word } from '../../core/words.js';
import { shownNumber } from '../shared/number.js';
import { LinkDialog } from './link-dialog.js';
import { sessionWord, t } from './numbers-texts.js';

const TONES: Readonly<Record<State, Tone>> = {
  connected: 'good',
  created: 'info',
  reconnecting: 'warn',
  expired: 'calm',
  failed: 'bad',
  logged_out: 'calm',
  replaced: 'warn',
  banned: 'bad',
};

/** The linked numbers of each messaging-app channel. */
export function Numbers() {
  const channels = me.value?.capabilities.msgapp ?? [];
  const linking = useSignal<string | undefined>(undefined);
  const connects = can('msgapp.connect');
  const linkButton = (channel: string) =>
    connects && (
      <Button
        kind="main"
        onClick={() => {
          linking.value = channel;
        }}
      >
        {channels.length > 1 ? t('linkTo', { channel }) : t('link')}
      </Button>
    );
  const [only] = channels;
  return (
    <Screen
      title={t('title')}
      lead={t('lead')}
      actions={channels.length === 1 && only !== undefined && linkButton(only)}
    >
      {channels.map((channel) => (
        <Channel key={channel} of={channel} isOnly={channels.length === 1} link={linkButton(channel)} />
      ))}
      {linking.value !== undefined && (
        <LinkDialog
          channel={linking.value}
          onClose={() => {
            linking.value = undefined;
          }}
        />
      )}
    </Screen>
  );
}

interface ChannelProps {
  readonly of: string;
  readonly isOnly: boolean;
  readonly link: preact.ComponentChildren;
}

function Channel({ of, isOnly, link }: ChannelProps) {
  const { data, error, reload } = useResource((signal) => messaging().msgapp(of).sessions({ signal }), [of], LIVE);
  const ending = useSignal<MsgappSession | undefined>(undefined);
  const active = data?.sessions.filter(({ status }) => !isFinal(status)) ?? [];
  const ended = data?.sessions.filter(({ status }) => isFinal(status)) ?? [];
  const content = data && (
    <>
      {active.length === 0 ? (
        <Empty title={t('none')} action={link}>
          {t('noneHow')}
        </Empty>
      ) : (
        <Sessions
          of={active}
          caption={of}
          onEnd={(session) => {
            ending.value = session;
          }}
        />
      )}
      {ended.length > 0 && (
        <Section title={t('earlier')}>
          <Sessions of={ended} caption={t('earlier')} />
        </Section>
      )}
    </>
  );
  const failure =
    error !== undefined &&
    (data && isPassing(error) ? (
      <Note tone="warn">{word('stale')}</Note>
    ) : (
      <Failure error={error} onRetry={() => void reload()} />
    ));
  return (
    <>
      {failure}
      {data === undefined && error === undefined && <Loading />}
      {isOnly ? (
        content
      ) : (
        <Section title={of} actions={active.length > 0 && link}>
          {content}
        </Section>
      )}
      {ending.value && (
        <Ending
          channel={of}
          of={ending.value}
          onClose={(done) => {
            ending.value = undefined;
            if (done) void reload();
          }}
        />
      )}
    </>
  );
}

interface SessionsProps {
  readonly of: readonly MsgappSession[];
  readonly caption: string;
  onEnd?(session: MsgappSession): void;
}

function Sessions({ of, caption, onEnd }: SessionsProps) {
  return (
    <Table
      caption={caption}
      rows={of}
      identity={({ sessionID }) => sessionID}
      columns={[
        {
          title: t('number'),
          cell: ({ number }) =>
            number === null ? <span class="soft">{t('waiting')}</span> : <bdi>{shownNumber(number)}</bdi>,
        },
        { title: t('state'), cell: ({ status }) => <SessionStatus of={status} /> },
        { title: t('reason'), cell: ({ reason }) => (reason === null ? '–' : <bdi>{sessionWord.of(reason)}</bdi>) },
        { title: t('linked'), cell: ({ connected_at }) => (connected_at === null ? '–' : <Ago at={connected_at} />) },
        { title: t('made'), cell: ({ created_at }) => <Ago at={created_at} /> },
        ...(onEnd && can('msgapp.unlink')
          ? [
              {
                title: word('actions'),
                quiet: true,
                right: true,
                cell: (session: MsgappSession) => (
                  <Button
                    label={
                      session.number === null ? t('dropThis') : t('unlinkThis', { number: shownNumber(session.number) })
                    }
                    onClick={() => onEnd(session)}
                  >
                    {t(session.number === null ? 'drop' : 'unlink')}
                  </Button>
                ),
              },
            ]
          : []),
      ]}
    />
  );
}

export function SessionStatus({ of }: { readonly of: State }) {
  return <Status of={of} tone={TONES[of]} text={sessionWord.of(of)} />;
}

interface EndingProps {
  readonly channel: string;
  readonly of: MsgappSession;
  onClose(done: boolean): void;
}

function Ending({ channel, of: { number, sessionID }, onClose }: EndingProps) {
  return (
    <Confirm
      title={number === null ? t('dropThis') : t('unlinkThis', { number: shownNumber(number) })}
      verb={t(number === null ? 'drop' : 'unlink')}
      said={number === null ? t('dropped') : t('unlinked', { number: shownNumber(number) })}
      change={() => messaging().msgapp(channel).logout(sessionID)}
      onClose={onClose}
    >
      <p>{t(number === null ? 'dropWhat' : 'unlinkWhat')}</p>
    </Confirm>
  );
}
