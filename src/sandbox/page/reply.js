/* Lets a phone answer the sender of its last message. */

function makeReply(phone) {
  const form = element('form', 'reply');
  const input = element('input');
  const button = element('button', 'quiet', texts.send);
  const says = element('p', 'says');
  input.type = 'text';
  input.autocomplete = 'off';
  input.maxLength = 1600;
  button.type = 'submit';
  says.setAttribute('role', 'status');
  form.append(input, button, says);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (input.value.trim() === '' || button.disabled) return;
    says.textContent = '';
    button.disabled = true;
    const sent = await sendReply(phone, input.value);
    button.disabled = false;
    if (sent) input.value = '';
    says.textContent = sent ? texts.replySent : texts.replyFailed;
  });
  input.addEventListener('input', () => {
    says.textContent = '';
  });
  return { form, input };
}

/** Shows the name of the sender whom the phone answers now. */
function drawReply({ form, input }, phone) {
  const last = lastArrived(phone);
  form.hidden = !last;
  if (!last) return;
  input.placeholder = texts.replyTo(last.fromText);
  input.setAttribute('aria-label', input.placeholder);
}

function lastArrived(phone) {
  return phone.messages.findLast(hasArrived);
}

async function sendReply(phone, text) {
  const { channel, from } = lastArrived(phone);
  try {
    const answer = await fetch(`${base}/phones/${phone.number}/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ channel, to: from, text }),
    });
    return answer.ok;
  } catch {
    return false;
  }
}
