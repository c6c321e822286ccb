import { useEffect } from 'preact/hooks';
import { Button } from '../components/button.js';
import { Failure, Note } from '../components/notes.js';
import { said, shownScreen } from '../core/said.js';
import { word } from '../core/words.js';

/** Tells of the last change on this screen, and offers to undo it. Screen readers read it out when they have finished a sentence. */
export function StatusLine() {
  const screen = shownScreen();
  const now = said.value?.screen === screen ? said.value : undefined;
  useEffect(() => {
    if (said.peek()?.screen !== screen) said.value = undefined;
  }, [screen]);
  return (
    <>
      <div role="status" class="status-line">
        {now && now.error === undefined && (
          <Note tone="good">
            <span dir="auto">{now.text}</span>
            {now.undo && <Button onClick={() => void now.undo?.()}>{word('undo')}</Button>}
          </Note>
        )}
      </div>
      <Failure error={now?.error} />
    </>
  );
}
