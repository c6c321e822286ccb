import { useEffect } from 'preact/hooks';
import { Button } from '../components/button.js';
import { Failure, Note } from '../components/notes.js';
import { address } from '../core/router.js';
import { said } from '../core/said.js';
import { word } from '../core/words.js';

/** Tells of the last change on this screen, and offers to take it back. Screen readers read it at the end of a sentence. */
export function StatusLine() {
  const { path } = address.value;
  const now = said.value?.screen === path ? said.value : undefined;
  useEffect(() => {
    if (said.peek()?.screen !== path) said.value = undefined;
  }, [path]);
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
