import { effect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Button } from '../components/button.js';
import { Loading } from '../components/notes.js';
import { language, texts } from '../core/i18n.js';
import { sessionState, start } from '../core/session.js';
import { word } from '../core/words.js';
import { Frame } from './frame.js';
import { SignIn, SignInAgain } from './sign-in.js';
import '../core/theme';

const t = texts(
  { away: 'The server does not answer.', hint: 'You are still signed in. Try again later.' },
  { away: 'Le serveur ne répond pas.', hint: 'Vous restez connecté. Réessayez plus tard.' },
);

effect(() => {
  document.documentElement.lang = language.value;
});

/** Shows the sign-in screen or the application. */
export function App() {
  useEffect(() => {
    void start();
  }, []);
  switch (sessionState.value) {
    case 'starting':
      return (
        <main class="alone">
          <Loading />
        </main>
      );
    case 'away':
      return (
        <main class="alone">
          <h1>{t('away')}</h1>
          <p>{t('hint')}</p>
          <Button kind="main" onClick={() => void start()}>
            {word('retry')}
          </Button>
        </main>
      );
    case 'out':
      return <SignIn />;
    default:
      return (
        <>
          <Frame />
          {sessionState.value === 'lost' && <SignInAgain />}
        </>
      );
  }
}
