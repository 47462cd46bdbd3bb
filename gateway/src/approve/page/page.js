  const ARMING = 700;
  const cards = new Map();
  const list = document.getElementById('cards');
  const stateLine = document.getElementById('state');
  const news = document.getElementById('news');
  const clear = document.getElementById('clear');
  const none = document.getElementById('none');
  const head = document.getElementById('head');
  const bar = document.getElementById('notices');
  // Answered cards whose content is kept.
  const KEPT = 30;
  let token = '';
  let seen = '';
  let ahead = 0;

  // Taken from the address at once, so that it stays in no history.
  const code = location.hash.slice(1);
  if (code) history.replaceState(null, '', '/');

  const make = (name, look, ...children) => {
    const made = document.createElement(name);
    if (look) made.className = look;
    for (const child of children) made.append(child);
    return made;
  };
  // The only way by which text of agents gets onto the page.
  const put = (into, pieces) => {
    for (const [text, look] of pieces) {
      if (look === 0) { into.append(text); continue; }
      const piece = make(look === 2 ? 'span' : 'mark', ['', '', 'odd', 'differs'][look]);
      piece.textContent = text;
      if (look === 2) piece.title = 'A character that is not seen for what it is, shown by its number';
      into.append(piece);
    }
    return into;
  };
  const empty = pieces => pieces.length === 0;
  const plain = pieces => pieces.map(piece => piece[0]).join('');
  const send = (path, body) => fetch(path, {
    method: body === undefined ? 'GET' : 'POST', body, cache: 'no-store', credentials: 'omit', redirect: 'error',
    headers: token ? { 'x-policy-token': token } : {},
  });
  const open = () => [...cards.values()].filter(card => card.open);
  const say = text => { if (stateLine.textContent !== text) stateLine.textContent = text; };

  // Buttons act only when they were in sight, unmoved, in a page that has the focus, for a while. What lies under the head or the
  // notices is not in sight.
  let watching;
  function watch() {
    watching?.disconnect();
    const rootMargin = '-' + head.offsetHeight + 'px 0px -' + bar.offsetHeight + 'px 0px';
    watching = new IntersectionObserver(entries => {
      for (const entry of entries) {
        const card = cards.get(entry.target.dataset.id);
        if (card) { card.inSight = entry.isIntersecting; arm(card); }
      }
    }, { threshold: 0.6, rootMargin });
    for (const card of open()) watching.observe(card.keys);
  }
  const disarm = card => {
    clearTimeout(card.timer);
    card.timer = 0;
    card.armed = false;
    for (const button of card.buttons) button.setAttribute('aria-disabled', 'true');
  };
  function arm(card) {
    const ready = card.open && card.inSight && document.visibilityState === 'visible' && document.hasFocus();
    if (!ready) { disarm(card); return; }
    if (card.armed || card.timer) return;
    card.timer = setTimeout(() => {
      card.timer = 0;
      card.armed = true;
      for (const button of card.buttons) button.removeAttribute('aria-disabled');
    }, ARMING);
  }
  const again = () => { for (const card of open()) { disarm(card); arm(card); } };
  addEventListener('blur', again);
  addEventListener('focus', again);
  document.addEventListener('visibilitychange', again);
  const moved = new ResizeObserver(() => {
    for (const card of open()) {
      const top = card.keys.getBoundingClientRect().top + scrollY;
      if (card.top !== undefined && card.top !== top) { disarm(card); arm(card); }
      card.top = top;
    }
  });
  moved.observe(list);
  const edges = new ResizeObserver(() => {
    document.documentElement.style.setProperty('--bar', bar.offsetHeight + 'px');
    document.documentElement.style.setProperty('--head', head.offsetHeight + 'px');
    watch();
  });
  edges.observe(bar);
  edges.observe(head);
  moved.observe(head);

  const section = (into, title, content) => into.append(make('h3', '', title), content);
  const region = (name, content) => {
    content.tabIndex = 0;
    content.setAttribute('role', 'group');
    content.setAttribute('aria-label', name);
    return content;
  };

  function build(told) {
    const { id, waits, closes, card: question } = told;
    const { pay } = question;
    const element = make('li', 'card');
    const card = { id, waits, closes, element, open: true, armed: false, timer: 0, inSight: false, buttons: [], tool: pay ? [[titled(pay), 0]] : question.tool };
    const title = put(make('h2'), card.tool);
    title.id = 't' + id;
    if (question.server) title.append(make('span', 'of', ' of '), put(make('span', 'of'), question.server));
    element.setAttribute('aria-labelledby', title.id);
    element.append(title);
    card.time = make('p', 'time');
    element.append(card.time);
    const facts = make('dl', 'facts');
    const fact = (name, pieces) => { if (!empty(pieces)) facts.append(make('dt', '', name), put(make('dd'), pieces)); };
    if (pay) fact('Asked with', question.tool);
    fact('Folder', question.cwd);
    fact('Host', question.host);
    fact('Session', question.session);
    fact('Agent', question.actor);
    if (question.pinned) fact('Pin', [[question.pinned, 0]]);
    element.append(facts);
    if (pay) {
      card.known = JSON.stringify(pay);
      card.pay = payment(pay);
      element.append(card.pay);
    }

    const said = make('ul', 'said');
    for (const line of question.said) {
      const item = make('li');
      const word = plain(line.decision);
      item.append(put(make('span', 'word ' + (['ask', 'deny', 'allow'].includes(word) ? word : '')), line.decision), put(make('strong'), line.rule));
      if (!empty(line.place)) item.append(' ', put(make('span', 'place'), line.place));
      if (!empty(line.reason)) item.append(put(make('p'), line.reason));
      if (!empty(line.matched)) item.append(make('p', '', make('span', 'small', 'Looked at '), put(make('mark'), line.matched)));
      if (!empty(line.suggest)) item.append(make('p', '', make('span', 'small', 'Instead '), put(make('span'), line.suggest)));
      said.append(item);
    }
    section(element, 'What your policy says', said);

    const agent = make('div', 'agent');
    agent.append(make('p', '', 'Written by the agent. Nothing below is from your policy.'));
    if (question.commands.length) {
      const commands = make('pre');
      for (const command of question.commands) commands.append(put(make('span', 'line'), command));
      section(agent, 'Commands in it, as they were read', region('Commands', commands));
    }
    if (question.diff.length) {
      const diff = make('pre');
      for (const line of question.diff) {
        const look = { added: 'line added', removed: 'line removed', place: 'line place-line' }[line.kind] || 'line';
        diff.append(put(make('span', look), line.text));
      }
      section(agent, 'What it changes', region('Change', diff));
    }
    if (pay?.terms.length) section(agent, 'The seller’s 402, as it was stated', terms(pay));
    section(agent, 'Complete arguments', region('Arguments', put(make('pre'), question.arguments)));
    if (question.executes.length) {
      const files = make('pre');
      for (const file of question.executes) files.append(put(make('span', 'line'), file));
      section(agent, 'Files it runs; their content is checked again', region('Files', files));
    }
    element.append(agent);
    card.agent = agent;

    const keys = make('div', 'keys');
    const key = (label, look, verdict) => {
      const button = make('button', look, label);
      button.type = 'button';
      button.dataset.verdict = verdict;
      button.setAttribute('aria-disabled', 'true');
      button.setAttribute('aria-describedby', title.id);
      // A press that began before it was armed answers nothing, whenever it ends; nor does a key that is held down.
      let early = false;
      const press = () => { early = !card.armed; };
      button.addEventListener('pointerdown', press);
      button.addEventListener('keydown', event => { if (event.repeat) event.preventDefault(); else press(); });
      button.addEventListener('click', event => {
        const begun = !early;
        early = false;
        if (event.isTrusted && begun && card.armed && !card.sent) answer(card, verdict);
      });
      card.buttons.push(button);
      keys.append(button);
    };
    key('Deny', 'deny', 'deny');
    key('Approve once', 'yes', 'once');
    if (!question.once) key('Approve for this session', 'yes', 'session');
    card.keys = keys;
    card.told = make('p', 'told');
    card.told.setAttribute('role', 'status');
    keys.dataset.id = id;
    const note = question.once
      ? 'A payment is approved once, for fifteen minutes.'
      : 'For this session: identical calls, with the same arguments, until the server or session ends.';
    element.append(keys, make('p', 'note', note), card.told);
    return card;
  }

  function close(card, text) {
    if (!card.open) return;
    card.open = false;
    disarm(card);
    watching.unobserve(card.keys);
    // It keeps its height, so that no other card moves under a finger.
    card.element.style.minHeight = '';
    const height = card.element.offsetHeight;
    const held = card.keys.contains(document.activeElement);
    for (const button of card.buttons) { button.disabled = true; }
    card.element.classList.add('closed');
    card.told.textContent = text;
    card.time.textContent = '';
    card.element.style.minHeight = height + 'px';
    clear.classList.remove('away');
    // A page that stays open for days keeps what was answered lately.
    const closed = [...cards.values()].filter(other => !other.open && other.agent.hasChildNodes());
    if (closed.length > KEPT) {
      const oldest = closed[0];
      oldest.element.style.height = oldest.element.offsetHeight + 'px';
      oldest.agent.replaceChildren();
      oldest.pay?.replaceChildren();
    }
    if (held) {
      const next = open()[0];
      if (next) { next.buttons[0].focus({ preventScroll: true }); next.keys.scrollIntoView({ block: 'nearest' }); }
      else { clear.focus({ preventScroll: true }); }
    }
  }

  const DONE = { once: 'Approved once.', session: 'Approved for this session.', deny: 'Denied.' };
  const sentence = text => /[.!?]$/.test(text) ? text : text + '.';
  async function answer(card, verdict) {
    card.sent = true;
    try {
      const reply = await send('/answer', JSON.stringify({ id: card.id, verdict }));
      if (reply.status === 401) { lost(); return; }
      const told = await reply.json();
      if (told.ok) close(card, DONE[verdict]);
      else if (told.closed) close(card, 'Not taken: ' + sentence(told.error));
      else card.told.textContent = 'Not taken: ' + sentence(told.error);
    } catch {
      card.told.textContent = 'Not taken: policy did not answer. Try again.';
    }
    card.sent = false;
    counts();
  }

  function counts() {
    const waiting = open().length;
    document.title = waiting ? '(' + waiting + ') Approvals' : 'Approvals';
    none.hidden = cards.size > 0;
    showQuestions.textContent = waiting ? 'Questions (' + waiting + ')' : 'Questions';
    if (token) say(waiting === 0 ? 'No questions' : waiting === 1 ? '1 question' : waiting + ' questions');
  }

  const clock = left => {
    const seconds = Math.max(0, Math.ceil(left / 1000));
    return Math.floor(seconds / 60) + ':' + String(seconds % 60).padStart(2, '0');
  };
  function tick() {
    const now = Date.now() + ahead;
    for (const card of open()) {
      const { waits, closes } = card;
      const text = now < waits ? 'The call waits ' + clock(waits - now)
        : 'The call was denied, since nobody answered. An approval now counts once for an identical call; ' + clock(closes - now) + ' left';
      if (card.time.textContent !== text) card.time.textContent = text;
    }
  }
  setInterval(tick, 500);

  const hour = time => new Date(time - ahead).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  let noticed = '[]';
  /** Policies that cannot be used as they are now, and servers that have changed. */
  function tell(notices) {
    const text = JSON.stringify(notices);
    if (text === noticed) return;
    noticed = text;
    const open = bar.querySelector('details')?.open ?? innerWidth > 700;
    bar.replaceChildren();
    for (const notice of notices) {
      const told = make('details');
      told.open = open;
      if (plain(notice.code) === 'pins') {
        told.append(make('summary', '', 'Changed: ', put(make('span'), notice.file)));
        told.append(make('p', '', put(make('strong'), notice.message), ' (since ' + hour(notice.since) + ')'));
        told.append(make('p', '', put(make('span'), notice.help)));
        bar.append(told);
        continue;
      }
      told.append(make('summary', '', 'Error in ', put(make('span'), empty(notice.place) ? notice.file : notice.place)));
      const where = make('p', '', put(make('code'), notice.file), ' cannot be used since ' + hour(notice.since));
      if (!empty(notice.message)) where.append(': ', put(make('strong'), notice.message));
      told.append(where);
      if (!empty(notice.help)) told.append(make('p', '', 'Help: ', put(make('span'), notice.help)));
      told.append(make('p', '', notice.until > 0
        ? 'The policy as it was before holds until ' + hour(notice.until) + '; what it allows is asked here.'
        : 'It holds for nothing, and calls are denied until it is mended.'));
      const small = make('p', 'small', put(make('span'), notice.code));
      if (notice.more > 0) small.append(empty(notice.code) ? '' : ' · ', notice.more === 1 ? 'and one more error' : 'and ' + notice.more + ' more errors');
      if (small.textContent) told.append(small);
      bar.append(told);
    }
    bar.hidden = notices.length === 0;
    if (notices.length) news.textContent = (plain(notices[0].code) === 'pins' ? 'A server has changed: ' : 'A policy has an error: ') + plain(notices[0].file) + '. ' + plain(notices[0].message);
    else news.textContent = 'Nothing is wrong any more.';
  }

  function show(told) {
    ahead = told.now - Date.now();
    tell(told.notices);
    const there = new Set();
    const fresh = [];
    for (const question of told.questions) {
      there.add(question.id);
      const known = cards.get(question.id);
      if (known) {
        known.waits = question.waits;
        known.closes = question.closes;
        if (question.card) changed(known, question.card);
        continue;
      }
      if (!question.card) { seen = ''; continue; }
      const card = build(question);
      cards.set(card.id, card);
      list.append(card.element);
      watching.observe(card.keys);
      fresh.push(card);
    }
    for (const card of open()) {
      if (!there.has(card.id) && !card.sent) close(card, 'Closed: it was answered elsewhere, withdrawn, or its time was over.');
    }
    tick();
    counts();
    if (fresh.length) {
      const first = open()[0];
      news.textContent = (fresh.length === 1 ? 'New question: ' : fresh.length + ' new questions, the first: ') + plain(fresh[0].tool);
      if (first && (document.activeElement === document.body || document.activeElement === clear)) first.buttons[0].focus({ preventScroll: true });
    }
  }

  clear.addEventListener('click', () => {
    for (const card of [...cards.values()]) if (!card.open) { card.element.remove(); cards.delete(card.id); }
    clear.classList.add('away');
    counts();
    again();
    const next = open()[0];
    if (next) next.buttons[0].focus({ preventScroll: true });
  });

  function lost() {
    token = '';
    for (const card of open()) disarm(card);
    say('This page is no longer connected. Run “policy approvals” to open a new one.');
    for (const card of open()) close(card, 'Not answered here.');
  }

  const pause = time => new Promise(done => setTimeout(done, time));
  async function live() {
    let failed = 0;
    while (token) {
      try {
        const reply = await send('/questions?seen=' + encodeURIComponent(seen));
        if (reply.status === 401 || reply.status === 403) { lost(); return; }
        const told = await reply.json();
        if (told.error) { say('The questions cannot be read: ' + told.error); await pause(2000); continue; }
        failed = 0;
        seen = told.seen;
        show(told);
      } catch {
        failed += 1;
        if (failed > 5) { lost(); return; }
        say('policy does not answer; trying again');
        await pause(500 * failed);
      }
    }
  }
