# Redmine by its own models, as "rails runner with_redmine.rb" runs it: see scripts/suites/clients.sh. Its tables have no
# foreign keys. What it adds refers to what was there before, and is read again.
ActiveRecord::Base.logger = nil
Redmine::DefaultData::Loader.load('en') if Redmine::DefaultData::Loader.no_data?
number = Project.count + 1
author = User.create!(login: "user#{number}", firstname: 'A', lastname: 'B', mail: "user#{number}@example.org", admin: true)
User.current = author
project = Project.create!(name: "Project #{number}", identifier: "project-#{number}", parent_id: Project.minimum(:id))
issue = Issue.create!(project: project, tracker: project.trackers.first, author: author, subject: 'An issue',
                      status: IssueStatus.first, priority: IssuePriority.first, assigned_to: author)
subtask = Issue.create!(project: project, tracker: issue.tracker, author: author, subject: 'A subtask',
                        status: IssueStatus.first, priority: IssuePriority.first, parent_issue_id: issue.id)
wiki = project.wiki || Wiki.create!(project: project, start_page: 'Start')
page = WikiPage.new(wiki: wiki, title: 'Start')
page.save_with_content(WikiContent.new(page: page, author: author, text: 'A text')) or raise page.errors.full_messages.join(', ')
watcher = User.create!(login: "watcher#{number}", firstname: 'C', lastname: 'D', mail: "watcher#{number}@example.org", admin: true)
Watcher.create!(watchable: issue, user: watcher)
issue.reload.init_journal(author, 'A note')
issue.update!(subject: 'A changed issue')

issue = Issue.find(issue.id)
raise 'the subtask is lost' unless issue.children.to_a == [subtask] && Issue.find(subtask.id).root_id == issue.id
raise 'the watcher is lost' unless issue.watcher_users.include?(watcher) && Issue.watched_by(watcher).to_a == [issue]
raise 'the note is lost' unless issue.journals.pluck(:notes).include?('A note')
raise 'the wiki page is lost' unless Project.find(project.id).wiki.find_page('Start').content.author_id == author.id
raise 'the project is lost' unless issue.project_id == project.id && Project.find(project.id).issues.count == 2
puts "key: #{issue.id.class}"
