import { useLayoutEffect, useRef } from 'preact/hooks';
import { Form } from '../components/dialog.js';
import { TextField } from '../components/field.js';
import { Failure } from '../components/notes.js';
import { useForm } from '../core/form.js';
import { texts } from '../core/i18n.js';
import { place } from '../core/place.js';
import { exchange, refusal, secretOf } from '../core/session.js';
import { Choices } from './choices.js';

const t = texts(
  {
    title: 'Sign in',
    again: 'Sign in again',
    kept: 'Your session has ended. What you typed is still there.',
    how: 'Open the one-time link that you were given, or paste it here. A link works once, for a few minutes.',
    link: 'Sign-in link',
    user: 'User name',
    password: 'Password',
    elsewhere: 'Sign in with your organisation',
  },
  {
    title: 'Connexion',
    again: 'Reconnexion',
    kept: 'Votre session est terminée. Ce que vous avez saisi est toujours là.',
    how: 'Ouvrez le lien à usage unique que vous avez reçu, ou collez-le ici. Un lien ne sert qu’une fois, pendant quelques minutes.',
    link: 'Lien de connexion',
    user: 'Nom d’utilisateur',
    password: 'Mot de passe',
    elsewhere: 'Se connecter avec votre organisation',
  },
);

/** The screen for people who are not signed in. */
export function SignIn() {
  return (
    <main class="alone">
      <div class="card sign-in">
        <Brand />
        <h1>{t('title')}</h1>
        <SignInForm />
      </div>
      <Choices />
    </main>
  );
}

/** The sign-in dialog above the application. The forms below keep the typed values. */
export function SignInAgain() {
  const element = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => element.current?.showModal(), []);
  return (
    <dialog ref={element} class="dialog" aria-labelledby="again" onCancel={(event) => event.preventDefault()}>
      <header>
        <h2 id="again">{t('again')}</h2>
      </header>
      <div class="form">
        <p>{t('kept')}</p>
        <SignInForm />
      </div>
    </dialog>
  );
}

/** The host's name and logo. */
export function Brand() {
  return (
    <p class="brand">
      {place.logo && <img src={place.logo} alt="" />}
      <span>{place.name}</span>
    </p>
  );
}

function SignInForm() {
  const form = useForm('sign-in', { link: '', username: '', password: '' }, ({ link, username, password }) =>
    exchange(
      place.signIn === 'password' ? { credentials: { username, password } } : { token: secretOf(link) ?? link.trim() },
    ),
  );
  return (
    <>
      {place.signInUrl !== undefined && (
        <a class="button main" href={place.signInUrl}>
          {t('elsewhere')}
        </a>
      )}
      <Failure error={form.error === undefined ? refusal.value : undefined} />
      <Form form={form} submit={t('title')}>
        {place.signIn === 'password' ? (
          <>
            <TextField
              label={t('user')}
              required
              autofocus
              autocomplete="username"
              value={form.values.username}
              onInput={(username) => form.set({ username })}
            />
            <TextField
              label={t('password')}
              required
              type="password"
              autocomplete="current-password"
              value={form.values.password}
              onInput={(password) => form.set({ password })}
            />
          </>
        ) : (
          <TextField
            label={t('link')}
            required
            autofocus
            autocomplete="off"
            hint={t('how')}
            value={form.values.link}
            onInput={(link) => form.set({ link })}
          />
        )}
      </Form>
    </>
  );
}
