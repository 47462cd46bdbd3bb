
  watch();
  (async () => {
    if (!code) { say('Run “policy approvals” to open this page with its code.'); return; }
    try {
      const reply = await send('/code', code);
      const told = reply.ok ? await reply.json() : {};
      if (!told.token) { say('The code was used already or is too old. Run “policy approvals” again.'); return; }
      token = told.token;
      views.hidden = !told.all;
      counts();
      live();
    } catch {
      say('policy does not answer. Run “policy approvals” again.');
    }
  })();
