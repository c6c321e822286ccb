import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { AccountRole, OperatorRole } from '../../../accounts/keys/permissions.js';
import { Button } from '../components/button.js';
import { Empty } from '../components/notes.js';
import { forgetDrafts } from '../core/form.js';
import { texts } from '../core/i18n.js';
import { place } from '../core/place.js';
import { address, chosenAccount, hrefOf } from '../core/router.js';
import { firstPath, type Group, isVisible, SCREENS, type ScreenEntry, screenAt, screenName } from '../core/screens.js';
import { me, signOut } from '../core/session.js';
import { Banners } from './banners.js';
import { Choices } from './choices.js';
import { keepFocus } from './kept-focus.js';
import { Outlet } from './outlet.js';
import { Palette, paletteOpen } from './palette.js';
import { Brand } from './sign-in.js';
import { StatusLine } from './status-line.js';

const t = texts(
  {
    skip: 'Skip to the content',
    menu: 'Menu',
    navigation: 'Screens',
    send: 'Sending',
    reach: 'Senders',
    develop: 'Developers',
    money: 'Account',
    operator: 'Operator',
    find: 'Find…',
    out: 'Sign out',
    lost: 'This screen does not exist',
    lostWhy: 'The address may be wrong, or your role has no access to it.',
    home: 'Go to the first screen',
    choose: 'Choose an account first',
    chooseWhy: 'This screen shows one account. Open it from the list of accounts.',
    accounts: 'Open the accounts',
  },
  {
    skip: 'Aller au contenu',
    menu: 'Menu',
    navigation: 'Écrans',
    send: 'Envois',
    reach: 'Expéditeurs',
    develop: 'Développeurs',
    money: 'Compte',
    operator: 'Exploitation',
    find: 'Rechercher…',
    out: 'Se déconnecter',
    lost: 'Cet écran n’existe pas',
    lostWhy: 'L’adresse est peut-être fausse, ou votre rôle ne donne pas accès à cet écran.',
    home: 'Aller au premier écran',
    choose: 'Choisissez d’abord un compte',
    chooseWhy: 'Cet écran concerne un seul compte. Ouvrez-le depuis la liste des comptes.',
    accounts: 'Ouvrir les comptes',
  },
);

const roleName = texts(
  {
    viewer: 'Viewer',
    sender: 'Sender',
    developer: 'Developer',
    admin: 'Administrator',
    support: 'Support',
    finance: 'Finance',
    operator: 'Operator',
  } satisfies Readonly<Record<AccountRole | OperatorRole, string>>,
  {
    viewer: 'Lecteur',
    sender: 'Expéditeur',
    developer: 'Développeur',
    admin: 'Administrateur',
    support: 'Assistance',
    finance: 'Finances',
    operator: 'Exploitant',
  },
);

const GROUPS: readonly Group[] = ['send', 'reach', 'develop', 'money', 'operator'];

/** Everything around a screen: skip link, navigation, account, search. */
export function Frame() {
  const open = useSignal(false);
  const { path } = address.value;
  const found = screenAt(path === '' ? firstPath() : path);
  const moved = useRef(path);

  // When the screen changes, the focus moves to it, as after a page load.
  useEffect(() => {
    open.value = false;
    if (moved.current === path) return;
    moved.current = path;
    document.getElementById('screen')?.focus();
    scrollTo(0, 0);
  }, [path]);

  const screen = useRef<HTMLElement>(null);
  useEffect(() => (screen.current ? keepFocus(screen.current) : undefined), []);

  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      paletteOpen.value = !paletteOpen.value;
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);

  return (
    <div class={open.value ? 'frame open' : 'frame'}>
      <button type="button" class="skip" onClick={() => document.getElementById('screen')?.focus()}>
        {t('skip')}
      </button>
      <header class="top">
        <Button label={t('menu')} expanded={open.value} onClick={() => (open.value = !open.value)}>
          <span aria-hidden="true">☰</span>
        </Button>
        <Brand />
      </header>
      <aside class="side">
        <Brand />
        <button type="button" class="find" onClick={() => (paletteOpen.value = true)}>
          {t('find')} <kbd>Ctrl K</kbd>
        </button>
        <Navigation current={found?.screen} />
        <Who />
      </aside>
      <main ref={screen} id="screen" tabIndex={-1} aria-labelledby="screen-title">
        <Banners screen={found?.screen} />
        <StatusLine />
        {found && isVisible(found.screen) ? (
          <Outlet key={found.screen.path} {...found} />
        ) : (
          <Nowhere screen={found?.screen} />
        )}
      </main>
      {paletteOpen.value && <Palette />}
    </div>
  );
}

function Navigation({ current }: { readonly current: ScreenEntry | undefined }) {
  const visible = SCREENS.filter(isVisible);
  return (
    <nav aria-label={t('navigation')}>
      {GROUPS.map((group) => {
        const screens = visible.filter((each) => each.group === group);
        return (
          screens.length > 0 && (
            <div key={group}>
              <p class="nav-group" id={`group-${group}`}>
                {t(group)}
              </p>
              <ul aria-labelledby={`group-${group}`}>
                {screens.map((screen) => (
                  <li key={screen.path}>
                    <a href={hrefOf(screen.path)} aria-current={screen === current ? 'page' : undefined}>
                      {screenName(screen)}
                    </a>
                  </li>
                ))}
              </ul>
            </div>
          )
        );
      })}
    </nav>
  );
}

function Who() {
  const who = me.value;
  return (
    <div class="who">
      <p class="who-name" dir="auto" title={who?.user?.subject}>
        {who?.user?.subject ?? who?.key?.name}
      </p>
      <p class="soft">
        {who?.account ? `${who.account.name} · ` : ''}
        {roleName.of(who?.operator ?? who?.user?.role ?? '')}
      </p>
      <Choices />
      <Button onClick={() => void signOut().then(forgetDrafts)}>{t('out')}</Button>
    </div>
  );
}

function Nowhere({ screen }: { readonly screen: ScreenEntry | undefined }) {
  const needsAccount =
    screen !== undefined && screen.group !== 'operator' && me.value?.account === null && chosenAccount() === undefined;
  useEffect(() => {
    document.title = place.name;
  }, []);
  return (
    <>
      <h1 id="screen-title">{t(needsAccount ? 'choose' : 'lost')}</h1>
      <Empty
        title={t(needsAccount ? 'chooseWhy' : 'lostWhy')}
        action={
          <a class="button" href={needsAccount ? '#/manage/accounts' : '#/'}>
            {t(needsAccount ? 'accounts' : 'home')}
          </a>
        }
      />
    </>
  );
}
